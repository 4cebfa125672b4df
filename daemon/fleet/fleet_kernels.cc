#include "daemon/fleet/fleet_kernels.h"

#include <map>
#include <string>
#include <utility>

#include "backends/process/check_report.h"
#include "backends/process/kernel_messages.h"
#include "base/status_macros.h"

namespace hone::daemon {

std::vector<backends::KernelDevice> FleetKernels::Devices() {
  std::map<std::string, backends::KernelDevice> devices;
  for (const v1::Worker& worker : fleet_.Workers()) {
    devices[worker.device().fingerprint()] =
        backends::FromProto(worker.device());
  }
  std::vector<backends::KernelDevice> list;
  list.reserve(devices.size());
  for (auto& [_, device] : devices) list.push_back(std::move(device));
  return list;
}

absl::StatusOr<backends::KernelDevice> FleetKernels::AwaitDevice(
    absl::string_view fingerprint, const std::function<bool()>& stop) {
  HONE_ASSIGN_OR_RETURN(const v1::Device device,
                        waits_ ? fleet_.AwaitDevice(fingerprint, stop)
                               : fleet_.GetDevice(fingerprint));
  return backends::FromProto(device);
}

absl::StatusOr<backends::KernelReport> FleetKernels::Measure(
    const backends::KernelRequest& request, absl::string_view fingerprint,
    const std::function<bool()>& stop) {
  v1::Work work;
  backends::ToProto(request, *work.mutable_kernel());
  HONE_ASSIGN_OR_RETURN(const v1::Completion completion,
                        fleet_.Run(work, fingerprint, stop));
  HONE_ASSIGN_OR_RETURN(backends::KernelReport report,
                        backends::FromProto(completion.kernel()));
  HONE_RETURN_IF_ERROR(backends::CheckReport(request, report));
  return report;
}

}  // namespace hone::daemon
