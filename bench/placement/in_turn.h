#ifndef HONE_BENCH_PLACEMENT_IN_TURN_H_
#define HONE_BENCH_PLACEMENT_IN_TURN_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "bench/placement/step_search.h"
#include "tuning/tasks/step_problem.h"
#include "tuning/tasks/step_space.h"

namespace hone::bench {

// An order in which placement, schedule and fusion are decided one after the
// other.
struct DecisionOrder {
  const char* name;
  std::array<tuning::StepDecisions, 3> decisions;
};
inline constexpr DecisionOrder kDecisionOrders[] = {
    {"fusion last",
     {{{.devices = true}, {.priorities = true}, {.fusion = true}}}},
    {"fusion first",
     {{{.fusion = true}, {.devices = true}, {.priorities = true}}}}};

// Returns the decisions of an assignment of `problem`, for a problem in which
// they are not decided.
tuning::StepBase BaseOf(const tuning::StepProblem& problem,
                        const std::vector<int32_t>& values);

// Searches for a step of `first`, a problem of the first decisions of `order`,
// then for the other decisions, each with what was decided before it. The
// budget is split evenly, beyond the known methods of each search, which are
// those for its decisions. Errors: those of SearchStep and StepProblem::Create.
absl::StatusOr<StepRun> SearchInTurn(const StepSearchOptions& options,
                                     const DecisionOrder& order,
                                     const tuning::StepProblem& first);

}  // namespace hone::bench

#endif  // HONE_BENCH_PLACEMENT_IN_TURN_H_
