#ifndef HONE_HLO_TEXT_PRINTER_H_
#define HONE_HLO_TEXT_PRINTER_H_

#include <string>

#include "hlo/ir/module.h"

namespace hone::hlo {

struct PrintOptions {
  bool metadata = true;
  bool percent = false;
  // The layout of every array, default ones too.
  bool layouts = true;
  // Prints constants of more elements than this as `{...}`, which loses their
  // value; -1 prints every constant whole.
  int64_t elide_constants_over = -1;
};

// The module as HLO text that XLA's parser and ours read back to the same
// fingerprint (unless constants are elided). Instructions without a name get a
// unique one.
std::string PrintModule(const Module& module, const PrintOptions& options = {});

// One instruction as a line of HLO text without indentation, for messages.
std::string PrintInstruction(const Module& module,
                             const Computation& computation, InstructionId id);

}  // namespace hone::hlo

#endif  // HONE_HLO_TEXT_PRINTER_H_
