#ifndef HONE_OPTIMIZERS_SEPARABLE_H_
#define HONE_OPTIMIZERS_SEPARABLE_H_

#include <memory>

#include "absl/status/statusor.h"

#include "optimizers/optimizer.h"
#include "optimizers/registry.h"
#include "space/separable_problem.h"

namespace hone::optimizers {

// Returns an optimizer that searches each part of `problem` by an optimizer of
// its own, of the kind `info`: each of its candidates decides all parts, by the
// next proposals of their optimizers. So n trials are n trials of every part.
// A part whose optimizer is at its end keeps its best decision.
// Errors: those of CreateOptimizer, for a part.
absl::StatusOr<std::unique_ptr<Optimizer>> MakeSeparableSearch(
    const OptimizerInfo& info, const space::SeparableProblem& problem,
    const OptimizerOptions& options);

}  // namespace hone::optimizers

#endif  // HONE_OPTIMIZERS_SEPARABLE_H_
