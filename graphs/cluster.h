#ifndef HONE_GRAPHS_CLUSTER_H_
#define HONE_GRAPHS_CLUSTER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hone::graphs {

// Equal devices of one kind.
struct DeviceKind {
  int32_t count = 0;
  double flops_per_second = 0;
  double bytes_per_second = 0;  // to and from its own memory
  double launch_seconds = 0;    // overhead of each operator

  friend bool operator==(const DeviceKind&, const DeviceKind&) = default;
};

// The machines that an operator graph is placed on. At least one device.
struct Cluster {
  DeviceKind accelerators;
  double accelerator_bytes = 0;  // memory of each accelerator
  DeviceKind cpus;
  // Of the link between any two devices, in each direction.
  double link_bytes_per_second = 0;
  double link_latency_seconds = 0;

  friend bool operator==(const Cluster&, const Cluster&) = default;
};

// Parses a description in TOML:
//
//   [accelerators]              # this table or [cpus] may be missing
//   count = 4
//   flops_per_second = 15.7e12
//   bytes_per_second = 900e9
//   memory_bytes = 16e9         # of each; [cpus] has no limit
//   launch_seconds = 5e-6
//   [cpus]
//   count = 1 …
//   [link]
//   bytes_per_second = 25e9
//   latency_seconds = 10e-6
//
// Errors: InvalidArgument, "FILE:LINE:COLUMN: which key, expected what", for
// text that is not TOML, unknown and missing keys, and values out of range; for
// more than 8 KiB.
absl::StatusOr<Cluster> ParseCluster(absl::string_view text,
                                     absl::string_view file);

// Returns a description of three lines at most, the same for equal clusters,
// without `;` and `|`. Parsing it gives an equal cluster.
std::string PrintCluster(const Cluster& cluster);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_CLUSTER_H_
