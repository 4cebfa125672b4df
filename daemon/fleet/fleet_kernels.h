#ifndef HONE_DAEMON_FLEET_FLEET_KERNELS_H_
#define HONE_DAEMON_FLEET_FLEET_KERNELS_H_

#include <functional>
#include <vector>

#include "backends/kernel_measurer.h"
#include "daemon/fleet/fleet.h"

namespace hone::daemon {

// Measures kernels on the fleet's workers.
class FleetKernels final : public backends::KernelMeasurer {
 public:
  // `fleet` outlives it. Unless it `waits`, AwaitDevice returns at once, for
  // callers that an answer must not keep waiting.
  FleetKernels(Fleet& fleet, bool waits) : fleet_(fleet), waits_(waits) {}

  std::vector<backends::KernelDevice> Devices() override;
  absl::StatusOr<backends::KernelDevice> AwaitDevice(
      absl::string_view fingerprint,
      const std::function<bool()>& stop) override;
  absl::StatusOr<backends::KernelReport> Measure(
      const backends::KernelRequest& request, absl::string_view fingerprint,
      const std::function<bool()>& stop) override;

 private:
  absl::StatusOr<Fleet::Result> Run(const backends::KernelRequest& request,
                                    absl::string_view fingerprint,
                                    absl::string_view other_machine,
                                    const std::function<bool()>& stop);
  // Has a second machine measure, if there is one, and merges its report into
  // `report`, which is that of `first`. Returns in one line how they disagree
  // about the baseline, which makes both reports worthless; empty if they do
  // not. Errors: Cancelled.
  absl::StatusOr<std::string> Confirm(const backends::KernelRequest& request,
                                      absl::string_view fingerprint,
                                      const Fleet::Result& first,
                                      const std::function<bool()>& stop,
                                      backends::KernelReport& report);

  Fleet& fleet_;
  const bool waits_;
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_FLEET_FLEET_KERNELS_H_
