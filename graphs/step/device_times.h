#ifndef HONE_GRAPHS_STEP_DEVICE_TIMES_H_
#define HONE_GRAPHS_STEP_DEVICE_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "graphs/cluster.h"

namespace hone::graphs {

// The most devices that step times are computed for.
inline constexpr int32_t kMaxStepDevices = 64;

// The times that the devices of a cluster take, in seconds, by number of
// device.
class DeviceTimes {
 public:
  // Errors: InvalidArgument for more than kMaxStepDevices devices.
  static absl::StatusOr<DeviceTimes> Create(const Cluster& cluster);

  int32_t device_count() const { return static_cast<int32_t>(kind_of_.size()); }
  // Devices of one kind take the same times: 0 … kind_count()-1.
  size_t kind_count() const { return kinds_.size(); }
  size_t kind_of(int32_t device) const {
    return kind_of_[static_cast<size_t>(device)];
  }
  double memory_bytes(int32_t device) const {
    return kinds_[kind_of(device)].memory_bytes;
  }

  // The launch overhead plus the larger of flops / peak and bytes / bandwidth;
  // 0 if there are neither flops nor bytes.
  // Source: the roofline of Williams, Waterman and Patterson, 2009.
  double KernelSeconds(size_t kind, double flops, double bytes) const;
  // Latency plus bytes / bandwidth; 0 from a device to itself.
  double TransferSeconds(int32_t from, int32_t to, double bytes) const {
    const Link& link = links_[static_cast<size_t>(from) * kind_of_.size() +
                              static_cast<size_t>(to)];
    return link.latency_seconds + bytes / link.bytes_per_second;
  }
  // The mean of TransferSeconds over all pairs of devices; 0 for one device.
  double MeanTransferSeconds(double bytes) const {
    return mean_latency_ + bytes * mean_seconds_per_byte_;
  }

 private:
  DeviceTimes() = default;

  std::vector<DeviceKind> kinds_;
  std::vector<size_t> kind_of_;  // [devices]
  std::vector<Link> links_;      // [devices, devices]
  double mean_latency_ = 0;
  double mean_seconds_per_byte_ = 0;
};

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_STEP_DEVICE_TIMES_H_
