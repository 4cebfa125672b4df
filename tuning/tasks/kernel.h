#ifndef HONE_TUNING_TASKS_KERNEL_H_
#define HONE_TUNING_TASKS_KERNEL_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "hlo/ir/module.h"
#include "loops/program.h"

namespace hone::tuning {

// The program that a decision of the task `kernel` makes of `module`.
// Errors: those of lowering; InvalidArgument when it is no decision, or one for
// another module.
absl::StatusOr<loops::Program> KernelOfDecision(const hlo::Module& module,
                                                absl::string_view decision);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_KERNEL_H_
