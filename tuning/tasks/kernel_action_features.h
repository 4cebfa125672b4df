#ifndef HONE_TUNING_TASKS_KERNEL_ACTION_FEATURES_H_
#define HONE_TUNING_TASKS_KERNEL_ACTION_FEATURES_H_

#include <cstdint>

#include "absl/types/span.h"

#include "loops/ir/program.h"
#include "loops/transforms/machine.h"
#include "loops/transforms/transform.h"
#include "space/sequential_problem.h"

namespace hone::tuning {

// The kinds of action of the task `kernel` are the names of choices,
// `transform`, `lowered`, and the names of transformations.
space::ActionSpec KernelActionSpec();

// Describes actions (tuning/tasks/kernel_actions.h) of a program. The focus is
// the loop or statement that a step acts on, or its buffer if it has no place,
// as nodes of costmodels::ObserveKernel. `schedule` is that of KernelSteps.
space::ActionBatch DescribeKernelActions(const loops::Program& program,
                                         const loops::Machine& machine,
                                         absl::Span<const loops::Step> schedule,
                                         absl::Span<const int32_t> actions);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_KERNEL_ACTION_FEATURES_H_
