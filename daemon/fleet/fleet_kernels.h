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
  Fleet& fleet_;
  const bool waits_;
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_FLEET_FLEET_KERNELS_H_
