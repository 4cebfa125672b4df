#ifndef HONE_TUNING_TASKS_KERNEL_H_
#define HONE_TUNING_TASKS_KERNEL_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "hlo/ir/module.h"
#include "loops/ir/program.h"

namespace hone::tuning {

// Lowers `module` and applies a decision of the task `kernel` to it. Errors:
// those of lowering; InvalidArgument if `decision` is not a decision, or is one
// for another module.
absl::StatusOr<loops::Program> KernelOfDecision(const hlo::Module& module,
                                                absl::string_view decision);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_KERNEL_H_
