#ifndef HONE_OPTIMIZERS_OPTIMIZER_TEXT_H_
#define HONE_OPTIMIZERS_OPTIMIZER_TEXT_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "optimizers/optimizer.h"
#include "optimizers/registry.h"

namespace hone::optimizers {

// An optimizer with the options that its text sets.
struct OptimizerChoice {
  const OptimizerInfo* info = nullptr;
  OptimizerOptions options;
};

// Parses an optimizer's id, followed for xtat by options in any order:
// "xtat:top_k=8:refresh=2:predictions=4096:proposer=annealing". The text is how
// a tuning names its optimizer, in the store and on the wire.
// Errors: NotFound for an unknown id; InvalidArgument, with what was expected,
// for an option that the optimizer does not have or a value out of range.
absl::StatusOr<OptimizerChoice> ParseOptimizer(absl::string_view text);

}  // namespace hone::optimizers

#endif  // HONE_OPTIMIZERS_OPTIMIZER_TEXT_H_
