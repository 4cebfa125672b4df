#ifndef HONE_TUNING_TASKS_NATIVE_CODE_TASK_H_
#define HONE_TUNING_TASKS_NATIVE_CODE_TASK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "tuning/task.h"
#include "tuning/tasks/kernel_target.h"

namespace hone::tuning {

// The base of tasks that decide about a module's native code. They measure on a
// device, which is their target.
class NativeCodeTask : public Task {
 public:
  std::vector<SubjectKind> subject_kinds(const TaskOptions&) const override {
    return {SubjectKind::kModule};
  }

  absl::StatusOr<std::string> OptionsKey(
      const TaskOptions& options) const override {
    return KernelOptionsKey(options);
  }

  std::string default_target() const override {
    return std::string(kKernelDeviceKind);
  }

  absl::StatusOr<std::string> ResolveTarget(
      absl::string_view asked,
      backends::KernelMeasurer* kernels) const override {
    return ResolveKernelTarget(asked, kernels);
  }
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_NATIVE_CODE_TASK_H_
