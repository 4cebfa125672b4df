#ifndef HONE_TUNING_TASKS_PLAN_CALLS_H_
#define HONE_TUNING_TASKS_PLAN_CALLS_H_

#include <vector>

#include "hlo/ir/module.h"
#include "loops/lowering/plan/module_plan.h"

namespace hone::tuning {

// Returns how often each kernel of the plan of `module` runs in one call of the
// module: [kernels]. A while runs as often as its known_trip_count or its
// counter says (graphs/trip_counts.h), else as often as the constant that its
// condition compares with, else kUnknownTripCount times; each branch of a
// conditional counts as an equal share.
std::vector<double> CallsOfKernels(const hlo::Module& module,
                                   const loops::ModulePlan& plan);

inline constexpr double kUnknownTripCount = 8;

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_PLAN_CALLS_H_
