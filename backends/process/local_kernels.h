#ifndef HONE_BACKENDS_PROCESS_LOCAL_KERNELS_H_
#define HONE_BACKENDS_PROCESS_LOCAL_KERNELS_H_

#include <functional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

#include "backends/kernel_measurer.h"
#include "backends/process/measure_process.h"

namespace hone::backends {

// Measures on this machine without a daemon, one request at a time, on the host
// and on the bundled simulated TPUs.
class LocalKernels final : public KernelMeasurer {
 public:
  // The host. Simulated TPUs are not listed: no worker offers them, and a
  // caller that simulates by itself needs no process for it.
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
