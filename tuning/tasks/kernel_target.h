#ifndef HONE_TUNING_TASKS_KERNEL_TARGET_H_
#define HONE_TUNING_TASKS_KERNEL_TARGET_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "backends/kernel_measurer.h"
#include "tuning/task.h"

// The devices and keys of the tasks that measure kernels.
namespace hone::tuning {

inline constexpr absl::string_view kKernelDeviceKind = "cpu";

// Task::space_version of the schedules of kernels.
std::string KernelSpaceVersion();

// Task::OptionsKey: "threads=1". Errors: InvalidArgument for a number of
// threads out of range, and for exact numerics.
absl::StatusOr<std::string> KernelOptionsKey(const TaskOptions& options);

// Task::ResolveTarget. A fingerprint need not be of a device that is there:
// there may be results.
absl::StatusOr<std::string> ResolveKernelTarget(
    absl::string_view asked, backends::KernelMeasurer* kernels);

// Waits for the device of context.target; its machine has the threads of
// `options`.
// Errors: Unavailable and Cancelled; InvalidArgument if it has fewer threads.
absl::StatusOr<backends::KernelDevice> AwaitKernelDevice(
    const TaskOptions& options, const TaskContext& context);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_KERNEL_TARGET_H_
