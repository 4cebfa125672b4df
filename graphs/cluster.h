#ifndef HONE_GRAPHS_CLUSTER_H_
#define HONE_GRAPHS_CLUSTER_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hone::graphs {

struct Link {
  double bytes_per_second = 0;
  double latency_seconds = 0;

  friend bool operator==(const Link&, const Link&) = default;
};

// Equal devices of one host.
struct DeviceKind {
  int32_t count = 0;
  double flops_per_second = 0;
  double bytes_per_second = 0;  // to and from its own memory
  double launch_seconds = 0;    // overhead of each operator
  // The memory of each device; CPUs have no limit.
  double memory_bytes = std::numeric_limits<double>::infinity();
  int32_t host = 0;
  // Between any two of these devices; by default Cluster::link.
  std::optional<Link> link = std::nullopt;

  friend bool operator==(const DeviceKind&, const DeviceKind&) = default;
};

// The machines that an operator graph is placed on. At least one device.
// Devices are numbered: accelerators in the order of their kinds, then CPUs.
struct Cluster {
  std::vector<DeviceKind> accelerators;
  std::vector<DeviceKind> cpus;
  // Between any two devices of one host, in each direction.
  Link link;
  // Between devices of different hosts; there if there are several hosts.
  std::optional<Link> network = std::nullopt;

  friend bool operator==(const Cluster&, const Cluster&) = default;
};

// Returns the kind of each device, in their order; pointers into `cluster`.
std::vector<const DeviceKind*> KindsOfDevices(const Cluster& cluster);
// Returns the link between two devices of different numbers, of these kinds.
const Link& LinkBetween(const Cluster& cluster, const DeviceKind& a,
                        const DeviceKind& b);

// Parses a description in TOML:
//
//   [accelerators]              # this table or [cpus] may be missing
//   count = 4
//   flops_per_second = 15.7e12
//   bytes_per_second = 900e9
//   memory_bytes = 16e9         # of each; [cpus] has no limit
//   launch_seconds = 5e-6
//   host = 0                    # may be missing, as the next line
//   link = {bytes_per_second = 25e9, latency_seconds = 10e-6}
//   [cpus]
//   count = 1 …
//   [link]
//   bytes_per_second = 12e9
//   latency_seconds = 10e-6
//   [network]                   # if there are several hosts
//   bytes_per_second = 3e9
//   latency_seconds = 30e-6
//
// Several kinds are arrays of tables: [[accelerators]].
//
// Errors: InvalidArgument, "FILE:LINE:COLUMN: which key, expected what", for
// text that is not TOML, unknown and missing keys, and values out of range; for
// more than 8 KiB.
absl::StatusOr<Cluster> ParseCluster(absl::string_view text,
                                     absl::string_view file);

// Returns a description of four lines at most, the same for equal clusters,
// without `;` and `|`. Parsing it gives an equal cluster.
std::string PrintCluster(const Cluster& cluster);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_CLUSTER_H_
