#include "graphs/step/step_bounds.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

#include "backends/cluster_sim/step_simulator.h"
#include "graphs/cluster.h"
#include "graphs/op_graph.h"
#include "graphs/step/fusion_rules.h"
#include "tests/backends/cluster_sim/random_step.h"

namespace hone::backends {
namespace {

using graphs::Cluster;
using graphs::DeviceKind;
using graphs::KernelIndex;
using graphs::StepBounds;
using ::hone::testing::ForEachStep;
using ::hone::testing::RandomStep;

// Rounding of sums in another order.
constexpr double kSlack = 1 + 1e-9;

TEST(StepBounds, NoRandomStepIsBelowThem) {
  int tight = 0;
  int communicating = 0;
  ForEachStep(600, 25, [&](RandomStep& step) {
    const StepBounds bounds = LowerBounds(step.kernels, step.times);
    EXPECT_GE(bounds.critical_path, 0);
    EXPECT_GE(bounds.work, 0);
    EXPECT_GE(bounds.communication, 0);
    if (bounds.communication > bounds.critical_path) ++communicating;
    StepSimulator simulator(step.kernels, step.times);
    const auto simulate = [&] {
      const double seconds =
          simulator.Run(step.devices, step.priorities).seconds;
      ASSERT_LE(bounds.greatest(), seconds * kSlack);
      if (bounds.greatest() * kSlack >= seconds && seconds > 0) ++tight;
    };
    for (int i = 0; i < 20; ++i) {
      simulate();
      for (KernelIndex k = 0; k < step.kernels.size(); ++k) step.Change(k);
    }
    // What a search would find: all on one device, and changes of one kernel.
    for (int32_t d = 0; d < step.times.device_count(); ++d) {
      step.devices.assign(step.kernels.size(), d);
      simulate();
      for (int i = 0; i < 5; ++i) {
        const auto k =
            static_cast<KernelIndex>(step.rng.Below(step.kernels.size()));
        step.Change(k);
        simulate();
        step.devices[k] = d;
      }
    }
  });
  EXPECT_GT(tight, 500);
  EXPECT_GT(communicating, 50);
}

// All placements of small graphs, so that the best one is among them.
TEST(StepBounds, TheBestPlacementIsNotBelowThem) {
  ForEachStep(150, 6, [](RandomStep& step) {
    if (step.times.device_count() > 3) return;
    const StepBounds bounds = LowerBounds(step.kernels, step.times);
    StepSimulator simulator(step.kernels, step.times);
    step.devices.assign(step.kernels.size(), 0);
    for (bool more = true; more;) {
      ASSERT_LE(bounds.greatest(),
                simulator.Run(step.devices, step.priorities).seconds * kSlack);
      more = false;
      for (int32_t& device : step.devices) {
        more = ++device < step.times.device_count();
        if (more) break;
        device = 0;
      }
    }
  });
}

TEST(StepBounds, OneDeviceTakesExactlyThat) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed);
    const graphs::OpGraph graph =
        hone::testing::RandomOpGraph(rng, 1 + rng.Below(40));
    Cluster cluster = hone::testing::RandomCluster(rng);
    DeviceKind kind = cluster.accelerators.empty() ? cluster.cpus[0]
                                                   : cluster.accelerators[0];
    kind.count = 1;
    kind.host = 0;
    const auto times = *graphs::DeviceTimes::Create({{kind}, {}, cluster.link});
    graphs::FusionRules rules(graph);
    const graphs::KernelGraph kernels(
        rules, hone::testing::RandomFusion(rng, rules), times);
    const double seconds = StepSimulator(kernels, times)
                               .Run(std::vector<int32_t>(kernels.size()),
                                    std::vector<uint64_t>(kernels.size()))
                               .seconds;
    EXPECT_NEAR(LowerBounds(kernels, times).greatest(), seconds, seconds * 1e-9)
        << seed;
  }
}

// A program of kernels of one node each.
class Program {
 public:
  int64_t Add(double flops, double output_bytes,
              const std::vector<int64_t>& inputs) {
    const auto node = static_cast<int64_t>(nodes_.size());
    nodes_.push_back({.id = node,
                      .opcode = flops > 0 ? "dot" : "reshape",
                      .flops = flops,
                      .output_bytes = output_bytes});
    for (const int64_t input : inputs) {
      edges_.push_back(
          {input, node, nodes_[static_cast<size_t>(input)].output_bytes});
    }
    return node;
  }

  StepBounds On(const Cluster& cluster) const {
    const graphs::OpGraph graph = *graphs::OpGraph::Create(nodes_, edges_);
    graphs::FusionRules rules(graph);
    const auto times = *graphs::DeviceTimes::Create(cluster);
    return LowerBounds({rules, graphs::Fusion(nodes_.size()), times}, times);
  }

 private:
  std::vector<graphs::OpNode> nodes_;
  std::vector<graphs::OpEdge> edges_;
};

// A flop, and a byte that is sent, take a second each; a transfer half a second
// more.
Cluster Devices(int32_t count) {
  return {.accelerators = {{.count = count,
                            .flops_per_second = 1,
                            .bytes_per_second = 1}},
          .cpus = {},
          .link = {1, 0.5}};
}

// The last is twice as fast as the others.
Cluster OneIsFaster(int32_t others) {
  Cluster cluster = Devices(others);
  cluster.accelerators.push_back(
      {.count = 1, .flops_per_second = 2, .bytes_per_second = 1});
  return cluster;
}

TEST(StepBounds, TheLongestPathWithoutTransfers) {
  Program program;
  const int64_t a = program.Add(2, 100, {});
  const int64_t b = program.Add(3, 100, {a});
  program.Add(1, 100, {a});
  program.Add(4, 100, {b});
  EXPECT_EQ(program.On(Devices(2)).critical_path, 9);
  EXPECT_EQ(program.On(OneIsFaster(1)).critical_path, 4.5);
}

TEST(StepBounds, TheWorkOfAllDevices) {
  Program program;
  for (int i = 0; i < 6; ++i) program.Add(2, 1, {});
  EXPECT_DOUBLE_EQ(program.On(Devices(3)).work, 4);
  EXPECT_DOUBLE_EQ(program.On(Devices(3)).greatest(), 4);
  EXPECT_EQ(program.On(OneIsFaster(1)).work, 3);
}

TEST(StepBounds, TheLeastCommunication) {
  // a → b, c: sending costs what is sent, all on one device 6.
  Program program;
  const int64_t a = program.Add(1, 1, {});
  program.Add(2, 1, {a});
  program.Add(3, 1, {a});
  const StepBounds bounds = program.On(Devices(2));
  EXPECT_EQ(bounds.critical_path, 4);
  EXPECT_EQ(bounds.work, 3);
  // a, its transfer, and the shorter of both.
  EXPECT_EQ(bounds.communication, 1 + 1.5 + 2);
  EXPECT_EQ(bounds.greatest(), 4.5);

  Program heavy;
  const int64_t x = heavy.Add(1, 50, {});
  heavy.Add(2, 1, {x});
  heavy.Add(3, 1, {x});
  EXPECT_EQ(heavy.On(Devices(2)).communication, 6);
  EXPECT_EQ(heavy.On(OneIsFaster(2)).communication, 3);
}

TEST(StepBounds, PartsNeedNotCommunicate) {
  Program program;
  const int64_t a = program.Add(2, 50, {});
  program.Add(2, 50, {a});
  const int64_t b = program.Add(2, 50, {});
  program.Add(2, 50, {b});
  EXPECT_EQ(program.On(Devices(2)).communication, 0);
  EXPECT_EQ(program.On(Devices(2)).greatest(), 4);
  EXPECT_EQ(program.On(Devices(1)).greatest(), 8);
  // What takes no time may join them, or stand apart.
  program.Add(0, 50, {});
  EXPECT_EQ(program.On(Devices(2)).communication, 0);
  program.Add(0, 50, {a, b});
  EXPECT_EQ(program.On(Devices(2)).communication, 8);
}

TEST(StepBounds, AProgramWithoutWorkTakesNoTime) {
  Program program;
  const int64_t a = program.Add(0, 50, {});
  program.Add(0, 50, {a});
  EXPECT_EQ(program.On(Devices(1)).greatest(), 0);
  EXPECT_EQ(program.On(Devices(3)).greatest(), 0);
}

}  // namespace
}  // namespace hone::backends
