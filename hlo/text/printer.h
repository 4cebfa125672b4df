#ifndef HONE_HLO_TEXT_PRINTER_H_
#define HONE_HLO_TEXT_PRINTER_H_

#include <string>

#include "hlo/ir/module.h"

namespace hone::hlo {

struct PrintOptions {
  // The layout of every array, default ones too.
  bool layouts = true;
};

// The module as HLO text that XLA's parser and ours read back to the same
// fingerprint. Instructions without a name get a unique one.
std::string PrintModule(const Module& module, const PrintOptions& options = {});

}  // namespace hone::hlo

#endif  // HONE_HLO_TEXT_PRINTER_H_
