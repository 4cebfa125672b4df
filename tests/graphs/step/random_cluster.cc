#include "tests/graphs/step/random_cluster.h"

#include <cstdint>

namespace hone::testing {

using graphs::Cluster;
using graphs::DeviceKind;
using graphs::Link;

Cluster RandomCluster(Rng& rng) {
  const bool round = rng.Below(2) == 0;
  // A rate or a time of about this size.
  const auto about = [&](double value) {
    return round ? value * static_cast<double>(1 << rng.Below(3))
                 : value * (0.5 + rng.Uniform());
  };
  const auto link = [&] {
    return Link{about(1 << 14), rng.Below(3) == 0 ? 0 : about(1)};
  };
  const auto kind = [&](int32_t host) {
    DeviceKind made = {.count = static_cast<int32_t>(1 + rng.Below(2)),
                       .flops_per_second = about(1 << 17),
                       .bytes_per_second = about(1 << 15),
                       .launch_seconds = rng.Below(3) == 0 ? 0 : about(1),
                       .host = host};
    if (rng.Below(2) == 0) made.link = link();
    return made;
  };
  Cluster cluster;
  cluster.link = link();
  const bool two_hosts = rng.Below(3) == 0;
  if (two_hosts) cluster.network = link();
  for (uint64_t kinds = 1 + rng.Below(2); kinds > 0; --kinds) {
    const auto host = static_cast<int32_t>(two_hosts ? rng.Below(2) : 0);
    cluster.accelerators.push_back(kind(host));
    cluster.accelerators.back().memory_bytes = about(1 << 20);
  }
  if (rng.Below(2) == 0) cluster.cpus.push_back(kind(two_hosts ? 1 : 0));
  return cluster;
}

}  // namespace hone::testing
