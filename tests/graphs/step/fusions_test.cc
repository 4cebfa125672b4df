#include "graphs/step/fusions.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/cluster.h"
#include "tests/graphs/step/fusion_by_definition.h"
#include "tests/graphs/step/random_cluster.h"
#include "tests/graphs/step/random_op_graph.h"

namespace hone::graphs {
namespace {

using ::hone::testing::FusionByDefinition;
using ::hone::testing::RandomCluster;
using ::hone::testing::RandomOpGraph;
using ::testing::ElementsAre;

// One device that takes a second for each flop and byte, and this long to
// launch a kernel.
DeviceTimes Times(double launch_seconds) {
  Cluster cluster;
  cluster.accelerators = {{.count = 1,
                           .flops_per_second = 1,
                           .bytes_per_second = 1,
                           .launch_seconds = launch_seconds}};
  return *DeviceTimes::Create(cluster);
}

// The time of all kernels on devices of kind 0.
double TotalSeconds(FusionRules& rules, const DeviceTimes& times,
                    const Fusion& fused) {
  double seconds = 0;
  for (NodeIndex node = 0; node < fused.size(); ++node) {
    if (fused[node] != 0) continue;
    const KernelCost cost = rules.Cost(node, fused);
    seconds += times.KernelSeconds(0, cost.flops, cost.bytes);
  }
  return seconds;
}

// An argument, a node that computes with it, and two that read the result.
OpGraph Fork(double flops) {
  return *OpGraph::Create({{0, "p", "parameter", 0, 0, 10},
                           {1, "a", "exponential", flops, 20, 10},
                           {2, "b", "negate", 1, 20, 10},
                           {3, "c", "sine", 1, 20, 10}},
                          {{0, 1, 10}, {1, 2, 10}, {1, 3, 10}});
}

TEST(FuseByPriorityTest, FusesWhatSavesTime) {
  // Computed twice in the shadow of 20 bytes, without its own 20.
  const OpGraph graph = Fork(/*flops=*/19);
  FusionRules rules(graph);
  EXPECT_THAT(FuseByPriority(rules, Times(0)), ElementsAre(0, 1, 0, 0));
}

TEST(FuseByPriorityTest, RefusesToComputeAgainWhatTakesLonger) {
  // Alone 50 and twice 20 seconds; fused twice 51.
  const OpGraph graph = Fork(/*flops=*/50);
  FusionRules rules(graph);
  EXPECT_THAT(FuseByPriority(rules, Times(0)), ElementsAre(0, 0, 0, 0));
  // Each launch takes 13 seconds more: 129 against 128.
  EXPECT_THAT(FuseByPriority(rules, Times(12)), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(FuseByPriority(rules, Times(13)), ElementsAre(0, 1, 0, 0));
}

TEST(FuseByPriorityTest, TheFirstKindOfDeviceDecides) {
  const OpGraph graph = Fork(/*flops=*/50);
  FusionRules rules(graph);
  Cluster cluster;
  cluster.accelerators = {
      {.count = 2, .flops_per_second = 1e3, .bytes_per_second = 1}};
  cluster.cpus = {{.count = 1, .flops_per_second = 1, .bytes_per_second = 1}};
  cluster.link = {1, 0};
  EXPECT_THAT(FuseByPriority(rules, *DeviceTimes::Create(cluster)),
              ElementsAre(0, 1, 0, 0));
  std::swap(cluster.accelerators[0], cluster.cpus[0]);
  EXPECT_THAT(FuseByPriority(rules, *DeviceTimes::Create(cluster)),
              ElementsAre(0, 0, 0, 0));
}

TEST(FuseByPriorityTest, FusesTheLargestSavingFirst) {
  // Both ends of a fit in its kernel, but then a is computed 8 times.
  const OpGraph graph =
      *OpGraph::Create({{0, "p", "parameter", 0, 0, 100},
                        {1, "a", "exponential", 150, 200, 100},
                        {2, "b", "broadcast", 0, 900, 800},
                        {3, "c", "negate", 1, 1600, 800}},
                       {{0, 1, 100}, {1, 2, 100}, {2, 3, 800}});
  FusionRules rules(graph);
  // b into c saves 1600 of 2700; then a into both would take 1201 for 1100.
  EXPECT_THAT(FuseByPriority(rules, Times(0)), ElementsAre(0, 0, 1, 0));
}

TEST(FuseByPriorityTest, DoesNotRepeatWhatIsCheapIfThatTakesLonger) {
  // Reshapes are free as long as nothing is fused into them.
  const OpGraph graph =
      *OpGraph::Create({{0, "ones", "iota", 0, 400, 400},
                        {1, "a", "reshape", 0, 800, 400},
                        {2, "b", "reshape", 0, 800, 400},
                        {3, "c", "dot", 1, 404, 4},
                        {4, "d", "dot", 1, 404, 4}},
                       {{0, 1, 400}, {0, 2, 400}, {1, 3, 400}, {2, 4, 400}});
  FusionRules rules(graph);
  EXPECT_LE(TotalSeconds(rules, Times(5), FuseByPriority(rules, Times(5))),
            TotalSeconds(rules, Times(5), Fusion(graph.size())));
}

TEST(FuseByPriorityTest, NeverTakesLongerThanNoFusion) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    const OpGraph graph = RandomOpGraph(rng, 1 + rng.Below(60));
    const DeviceTimes times = *DeviceTimes::Create(RandomCluster(rng));
    FusionRules rules(graph);
    const double before = TotalSeconds(rules, times, Fusion(graph.size()));
    const double after =
        TotalSeconds(rules, times, FuseByPriority(rules, times));
    EXPECT_LE(after, before * (1 + 1e-12));
  }
}

// Looks at all nodes again after each fusion.
Fusion FuseGreedily(FusionRules& rules, const DeviceTimes& times) {
  const auto nodes = static_cast<NodeIndex>(rules.graph().size());
  Fusion fused(nodes);
  for (NodeIndex node = 0; node < nodes; ++node) {
    if (rules.is_cheap(node)) rules.Fuse(node, fused);
  }
  const auto seconds = [&](NodeIndex root) {
    const KernelCost cost = rules.Cost(root, fused);
    return times.KernelSeconds(0, cost.flops, cost.bytes);
  };
  for (;;) {
    double most = 0;
    NodeIndex best = nodes;
    for (NodeIndex node = 0; node < nodes; ++node) {
      if (fused[node] != 0 || rules.is_cheap(node)) continue;
      double saved = seconds(node);
      Fusion with = fused;
      if (!rules.Fuse(node, with)) continue;
      for (const NodeIndex root : rules.KernelsOf(node, fused)) {
        const double before = seconds(root);
        fused[node] = 1;
        saved += before - seconds(root);
        fused[node] = 0;
      }
      if (saved > most) {
        most = saved;
        best = node;
      }
    }
    if (best == nodes) return fused;
    fused[best] = 1;
  }
}

TEST(FuseByPriorityTest, IsGreedy) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    const OpGraph graph = RandomOpGraph(rng, 1 + rng.Below(40));
    const DeviceTimes times = *DeviceTimes::Create(RandomCluster(rng));
    FusionRules rules(graph);
    EXPECT_EQ(FuseByPriority(rules, times), FuseGreedily(rules, times));
  }
}

TEST(FuseProducersTest, RepeatsWhatMovesButNotWhatComputes) {
  const OpGraph computes = Fork(/*flops=*/1);
  FusionRules rules(computes);
  EXPECT_THAT(FuseProducers(rules), ElementsAre(0, 0, 0, 0));
  const OpGraph moves = Fork(/*flops=*/0);
  FusionRules other(moves);
  EXPECT_THAT(FuseProducers(other), ElementsAre(0, 1, 0, 0));
}

TEST(FuseProducersTest, FusesWholeChainsAndDiamonds) {
  const OpGraph graph = *OpGraph::Create(
      {{0, "p", "parameter", 0, 0, 10},
       {1, "a", "exponential", 9, 20, 10},
       {2, "b", "negate", 1, 20, 10},
       {3, "c", "sine", 1, 20, 10},
       {4, "d", "add", 1, 30, 10}},
      {{0, 1, 10}, {1, 2, 10}, {1, 3, 10}, {2, 4, 10}, {3, 4, 10}});
  FusionRules rules(graph);
  EXPECT_THAT(FuseProducers(rules), ElementsAre(0, 1, 1, 1, 0));
}

TEST(FuseProducersTest, NothingThatComputesIsInTwoKernels) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    const OpGraph graph = RandomOpGraph(rng, 1 + rng.Below(60));
    FusionRules rules(graph);
    const Fusion fused = FuseProducers(rules);
    const FusionByDefinition definition(graph, fused);
    std::vector<int> kernels(graph.size());
    for (NodeIndex root = 0; root < graph.size(); ++root) {
      if (fused[root] != 0) continue;
      for (const NodeIndex member : definition.members(root)) {
        ++kernels[member];
      }
    }
    for (NodeIndex node = 0; node < graph.size(); ++node) {
      EXPECT_TRUE(kernels[node] == 1 || graph.node(node).flops == 0)
          << "node " << node;
    }
  }
}

}  // namespace
}  // namespace hone::graphs
