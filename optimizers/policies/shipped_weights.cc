#include "optimizers/policies/shipped_weights.h"

#include "base/embedded_file.h"

// HONE_MODEL_FILES is the folder models/.
// NOLINTNEXTLINE(readability-identifier-naming): a symbol of the object file.
HONE_EMBED_FILE(hone_cpu_kernel_weights, HONE_MODEL_FILES "/cpu_kernel.pt");
// NOLINTNEXTLINE(readability-identifier-naming): likewise.
HONE_EMBED_FILE(hone_pass_order_weights, HONE_MODEL_FILES "/pass_order.pt");
// NOLINTNEXTLINE(readability-identifier-naming): likewise.
HONE_EMBED_FILE(hone_partition_weights, HONE_MODEL_FILES "/partition.pt");
// NOLINTNEXTLINE(readability-identifier-naming): likewise.
HONE_EMBED_FILE(hone_step_weights, HONE_MODEL_FILES "/step.pt");
// NOLINTNEXTLINE(readability-identifier-naming): likewise.
HONE_EMBED_FILE(hone_tpu_kernel_weights, HONE_MODEL_FILES "/tpu_kernel.pt");

namespace hone::optimizers::policies {

absl::string_view ShippedWeights(absl::string_view name) {
  if (name == "cpu_kernel") return HONE_EMBEDDED_FILE(hone_cpu_kernel_weights);
  if (name == "pass_order") return HONE_EMBEDDED_FILE(hone_pass_order_weights);
  if (name == "partition") return HONE_EMBEDDED_FILE(hone_partition_weights);
  if (name == "step") return HONE_EMBEDDED_FILE(hone_step_weights);
  if (name == "tpu_kernel") return HONE_EMBEDDED_FILE(hone_tpu_kernel_weights);
  return "";
}

}  // namespace hone::optimizers::policies
