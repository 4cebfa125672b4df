#ifndef HONE_OPTIMIZERS_REGISTRY_H_
#define HONE_OPTIMIZERS_REGISTRY_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "base/registry.h"
#include "optimizers/optimizer.h"
#include "space/problem.h"

namespace hone::optimizers {

// The kinds of problem that an optimizer supports, as a set of bits.
using Kinds = uint32_t;
inline constexpr Kinds kSequential = 1;
inline constexpr Kinds kAssignment = 2;
// Sequential problems of parts (space/composite_problem.h), which optimizers of
// kSequential support too.
inline constexpr Kinds kComposite = 4;

#define HONE_LEARNED_OPTIMIZER(id, factory, kinds)
#define HONE_OPTIMIZER(id, factory, kinds)            \
  absl::StatusOr<std::unique_ptr<Optimizer>> factory( \
      const space::Problem& problem, const OptimizerOptions& options);
#include "optimizers/optimizers.def"
#undef HONE_OPTIMIZER
#undef HONE_LEARNED_OPTIMIZER

// One line of optimizers.def.
struct OptimizerInfo {
  absl::string_view id;
  Kinds kinds = 0;
  absl::StatusOr<std::unique_ptr<Optimizer>> (*factory)(
      const space::Problem&, const OptimizerOptions&) = nullptr;
};

// All optimizers.
const Registry<OptimizerInfo>& Optimizers();

// Returns an optimizer for `problem`, which must outlive it.
// Errors: InvalidArgument if it does not support the problem's kind or the
// options are invalid.
absl::StatusOr<std::unique_ptr<Optimizer>> CreateOptimizer(
    const OptimizerInfo& info, const space::Problem& problem,
    const OptimizerOptions& options);

// The same by id. Errors: also NotFound, listing the known ids.
absl::StatusOr<std::unique_ptr<Optimizer>> CreateOptimizer(
    absl::string_view id, const space::Problem& problem,
    const OptimizerOptions& options);

}  // namespace hone::optimizers

#endif  // HONE_OPTIMIZERS_REGISTRY_H_
