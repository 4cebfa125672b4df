#include "optimizers/policies/shipped_weights.h"

#include <cstddef>

// HONE_MODEL_FILES is the folder models/; the assembler puts the files into the
// object.
#define HONE_EMBED(symbol, file)             \
  __asm__(                                   \
      ".section .rodata\n"                   \
      ".global " #symbol "\n" #symbol        \
      ":\n"                                  \
      ".incbin \"" HONE_MODEL_FILES "/" file \
      "\"\n"                                 \
      ".global " #symbol "_end\n" #symbol    \
      "_end:\n.byte 0\n"                     \
      ".previous\n");                        \
  extern "C" const char symbol[];            \
  extern "C" const char symbol##_end[]

// NOLINTNEXTLINE(readability-identifier-naming): a symbol of the object file.
HONE_EMBED(hone_pass_order_weights, "pass_order.pt");
// NOLINTNEXTLINE(readability-identifier-naming): likewise.
HONE_EMBED(hone_step_weights, "step.pt");

namespace hone::optimizers::policies {

absl::string_view ShippedWeights(absl::string_view name) {
  if (name == "pass_order") {
    return {hone_pass_order_weights,
            static_cast<size_t>(hone_pass_order_weights_end -
                                hone_pass_order_weights)};
  }
  if (name == "step") {
    return {hone_step_weights,
            static_cast<size_t>(hone_step_weights_end - hone_step_weights)};
  }
  return "";
}

}  // namespace hone::optimizers::policies
