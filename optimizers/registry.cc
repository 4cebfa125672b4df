#include "optimizers/registry.h"

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "optimizers/policies/library.h"
#include "optimizers/separable.h"
#include "space/composite_problem.h"
#include "space/separable_problem.h"

namespace hone::optimizers {

const Registry<OptimizerInfo>& Optimizers() {
  static const auto* const optimizers =
      new Registry<OptimizerInfo>("optimizer", {
#define HONE_OPTIMIZER(id, factory, kinds) {id, kinds, &factory},
#define HONE_LEARNED_OPTIMIZER(id, factory, kinds)                      \
  {id, kinds,                                                           \
   [](const space::Problem& problem, const OptimizerOptions& options) { \
     return policies::CreateLearned(id, problem, options);              \
   }},
#include "optimizers/optimizers.def"
#undef HONE_LEARNED_OPTIMIZER
#undef HONE_OPTIMIZER
                                               });
  return *optimizers;
}

absl::StatusOr<std::unique_ptr<Optimizer>> CreateOptimizer(
    const OptimizerInfo& info, const space::Problem& problem,
    const OptimizerOptions& options) {
  const bool sequential = problem.sequential() != nullptr;
  Kinds kinds = sequential ? kSequential : kAssignment;
  if (dynamic_cast<const space::CompositeProblem*>(&problem) != nullptr) {
    kinds |= kComposite;
  }
  if ((info.kinds & kinds) == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "optimizer '", info.id, "' does not support ",
        sequential ? "sequential" : "assignment", " problems, expected ",
        info.kinds == kComposite ? "one of parts"
        : sequential             ? "an assignment problem"
                                 : "a sequential problem"));
  }
  const auto* const separable =
      dynamic_cast<const space::SeparableProblem*>(&problem);
  if (separable != nullptr) {
    return MakeSeparableSearch(info, *separable, options);
  }
  return info.factory(problem, options);
}

absl::StatusOr<std::unique_ptr<Optimizer>> CreateOptimizer(
    absl::string_view id, const space::Problem& problem,
    const OptimizerOptions& options) {
  HONE_ASSIGN_OR_RETURN(const OptimizerInfo* info, Optimizers().Find(id));
  return CreateOptimizer(*info, problem, options);
}

}  // namespace hone::optimizers
