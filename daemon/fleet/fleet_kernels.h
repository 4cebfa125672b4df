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
  // `fleet` outlives it.
  explicit FleetKernels(Fleet& fleet) : fleet_(fleet) {}

  std::vector<backends::KernelDevice> Devices() override;
  absl::StatusOr<backends::KernelDevice> AwaitDevice(
      absl::string_view fingerprint,
      const std::function<bool()>& stop) override;
  absl::StatusOr<backends::KernelReport> Measure(
      const backends::KernelRequest& request, absl::string_view fingerprint,
      const std::function<bool()>& stop) override;

 private:
  Fleet& fleet_;
};

// The same devices for callers that an answer must not keep waiting: those that
// are there now.
class PresentDevices final : public backends::KernelMeasurer {
 public:
  // `all` outlives it.
  explicit PresentDevices(backends::KernelMeasurer& all) : all_(all) {}

  std::vector<backends::KernelDevice> Devices() override;
  // Does not wait.
  absl::StatusOr<backends::KernelDevice> AwaitDevice(
      absl::string_view fingerprint,
      const std::function<bool()>& stop) override;
  absl::StatusOr<backends::KernelReport> Measure(
      const backends::KernelRequest& request, absl::string_view fingerprint,
      const std::function<bool()>& stop) override;

 private:
  backends::KernelMeasurer& all_;
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_FLEET_FLEET_KERNELS_H_
