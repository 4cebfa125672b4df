#include "graphs/step/device_times.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace hone::graphs {

absl::StatusOr<DeviceTimes> DeviceTimes::Create(const Cluster& cluster) {
  DeviceTimes times;
  int64_t count = 0;
  for (const auto* const list : {&cluster.accelerators, &cluster.cpus}) {
    for (const DeviceKind& kind : *list) count += kind.count;
  }
  if (count > kMaxStepDevices) {
    return absl::InvalidArgumentError(
        absl::StrCat("the cluster has ", count, " devices, expected at most ",
                     kMaxStepDevices));
  }
  const std::vector<const DeviceKind*> devices = KindsOfDevices(cluster);
  const DeviceKind* last = nullptr;
  for (const DeviceKind* const device : devices) {
    if (device != last) times.kinds_.push_back(*device);
    last = device;
    times.kind_of_.push_back(times.kinds_.size() - 1);
  }
  for (size_t a = 0; a < devices.size(); ++a) {
    for (size_t b = 0; b < devices.size(); ++b) {
      if (a == b) {
        times.links_.push_back(
            {.bytes_per_second = INFINITY, .latency_seconds = 0});
        continue;
      }
      const Link& link = LinkBetween(cluster, *devices[a], *devices[b]);
      times.links_.push_back(link);
      times.mean_latency_ += link.latency_seconds;
      times.mean_seconds_per_byte_ += 1 / link.bytes_per_second;
    }
  }
  if (devices.size() > 1) {
    const auto pairs =
        static_cast<double>(devices.size() * (devices.size() - 1));
    times.mean_latency_ /= pairs;
    times.mean_seconds_per_byte_ /= pairs;
  }
  return times;
}

double DeviceTimes::KernelSeconds(size_t kind, double flops,
                                  double bytes) const {
  if (flops == 0 && bytes == 0) return 0;
  const DeviceKind& of = kinds_[kind];
  return of.launch_seconds +
         std::max(flops / of.flops_per_second, bytes / of.bytes_per_second);
}

}  // namespace hone::graphs
