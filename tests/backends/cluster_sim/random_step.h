#ifndef HONE_TESTS_BACKENDS_CLUSTER_SIM_RANDOM_STEP_H_
#define HONE_TESTS_BACKENDS_CLUSTER_SIM_RANDOM_STEP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/op_graph.h"
#include "graphs/step/device_times.h"
#include "graphs/step/fusion_rules.h"
#include "graphs/step/kernel_graph.h"
#include "tests/graphs/step/random_cluster.h"
#include "tests/graphs/step/random_op_graph.h"

namespace hone::testing {

// A random program on a random cluster, with a placement and an order.
struct RandomStep {
  RandomStep(uint64_t seed, size_t most_nodes)
      : rng(seed),
        graph(RandomOpGraph(rng, 1 + rng.Below(most_nodes))),
        rules(graph),
        times(*graphs::DeviceTimes::Create(RandomCluster(rng))),
        kernels(rules, RandomFusion(rng, rules), times),
        // Few priorities have ties.
        ranks(rng.Below(2) == 0 ? 4 : 1000),
        devices(kernels.size()),
        priorities(kernels.size()) {
    for (graphs::KernelIndex k = 0; k < kernels.size(); ++k) Change(k);
  }

  // Gives a kernel another device and priority, by chance the same.
  void Change(graphs::KernelIndex kernel) {
    devices[kernel] = static_cast<int32_t>(
        rng.Below(static_cast<uint64_t>(times.device_count())));
    priorities[kernel] = rng.Below(ranks);
  }

  double Seconds(graphs::KernelIndex kernel) const {
    return kernels.Seconds(kernel, times.kind_of(devices[kernel]));
  }

  Rng rng;
  const graphs::OpGraph graph;
  graphs::FusionRules rules;
  const graphs::DeviceTimes times;
  const graphs::KernelGraph kernels;
  const uint64_t ranks;
  std::vector<int32_t> devices;
  std::vector<uint64_t> priorities;
};

// Calls `check` with random steps, until one fails.
template <typename Check>
void ForEachStep(uint64_t seeds, size_t most_nodes, const Check& check) {
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    RandomStep step(seed, most_nodes);
    check(step);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace hone::testing

#endif  // HONE_TESTS_BACKENDS_CLUSTER_SIM_RANDOM_STEP_H_
