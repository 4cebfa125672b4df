#ifndef HONE_WORK_PARENT_KERNELS_H_
#define HONE_WORK_PARENT_KERNELS_H_

#include <functional>
#include <vector>

#include "backends/kernel_measurer.h"
#include "work/parent.h"

namespace hone::work {

// Measures through the parent. `stop` is not asked: the parent knows.
class ParentKernels final : public backends::KernelMeasurer {
 public:
  explicit ParentKernels(Parent& parent) : parent_(parent) {}

  // No device if the parent does not answer any more.
  std::vector<backends::KernelDevice> Devices() override;
  absl::StatusOr<backends::KernelDevice> AwaitDevice(
      absl::string_view fingerprint,
      const std::function<bool()>& stop) override;
  absl::StatusOr<backends::KernelReport> Measure(
      const backends::KernelRequest& request, absl::string_view fingerprint,
      const std::function<bool()>& stop) override;

 private:
  Parent& parent_;
};

// The other end: answers a call with the parent's devices.
internal::Answer AnswerCall(const internal::Call& call,
                            backends::KernelMeasurer& kernels,
                            const std::function<bool()>& stop);

}  // namespace hone::work

#endif  // HONE_WORK_PARENT_KERNELS_H_
