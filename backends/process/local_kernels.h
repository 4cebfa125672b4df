#ifndef HONE_BACKENDS_PROCESS_LOCAL_KERNELS_H_
#define HONE_BACKENDS_PROCESS_LOCAL_KERNELS_H_

#include <functional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

#include "backends/kernel_measurer.h"
#include "backends/process/measure_process.h"

namespace hone::backends {

// Measures on this machine without a daemon, one request at a time. Its devices
// are the host and the bundled simulated TPUs.
class LocalKernels final : public KernelMeasurer {
 public:
  std::vector<KernelDevice> Devices() override;
  absl::StatusOr<KernelDevice> AwaitDevice(
      absl::string_view fingerprint,
      const std::function<bool()>& stop) override;
  absl::StatusOr<KernelReport> Measure(
      const KernelRequest& request, absl::string_view fingerprint,
      const std::function<bool()>& stop) override;

 private:
  absl::Mutex mu_;
  MeasureProcess process_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hone::backends

#endif  // HONE_BACKENDS_PROCESS_LOCAL_KERNELS_H_
