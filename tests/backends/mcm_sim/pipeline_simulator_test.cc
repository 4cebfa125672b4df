#include "backends/mcm_sim/pipeline_simulator.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/mcm/chip_loads.h"
#include "graphs/mcm/partition_rules.h"
#include "tests/backends/mcm_sim/pipeline_by_definition.h"
#include "tests/graphs/mcm/random_partition_graph.h"

namespace hone::backends {
namespace {

using graphs::NodeIndex;
using graphs::OpEdge;
using graphs::OpGraph;
using graphs::OpNode;
using graphs::Package;
using graphs::PartitionGraph;
using ::hone::testing::PipelineByDefinition;
using ::hone::testing::RandomPartitionGraph;
using ::hone::testing::SmallPackage;

// a -> b -> c, 2 ms of work, outputs of 1 ms and 1e6 bytes, weights of 100.
PartitionGraph Chain(int32_t chips, double memory = 1e9) {
  std::vector<OpNode> nodes;
  for (int64_t i = 0; i < 3; ++i) {
    nodes.push_back({.id = i,
                     .opcode = "dot",
                     .flops = 2e6,
                     .output_bytes = 1e6,
                     .parameter_bytes = 100});
  }
  return *PartitionGraph::Create(
      *OpGraph::Create(nodes, {{0, 1, 1e6}, {1, 2, 1e6}}),
      SmallPackage(chips, memory));
}

Package WithoutDelays(int32_t chips) {
  Package package = SmallPackage(chips, 1e9);
  package.op_seconds = 0;
  package.link.latency_seconds = 0;
  return package;
}

// A partition in which data flows to equal or higher chips.
std::vector<int32_t> RandomFlow(Rng& rng, const PartitionGraph& graph) {
  std::vector<int32_t> chips(graph.size());
  int32_t chip = 0;
  for (const NodeIndex node : graph.topological_order()) {
    if (rng.Below(2) == 0) chip = std::min(chip + 1, graph.chips() - 1);
    chips[node] = chip;
    // Some nodes stay behind, as far as what they read lets them.
    if (rng.Below(3) == 0) {
      int32_t lowest = 0;
      for (const NodeIndex before : graph.adjacency().predecessors(node)) {
        lowest = std::max(lowest, chips[before]);
      }
      chips[node] = lowest + static_cast<int32_t>(rng.Below(
                                 static_cast<uint64_t>(chip - lowest) + 1));
    }
  }
  return chips;
}

// A graph with other amounts, so that nothing ends at the same time by chance.
OpGraph Perturbed(Rng& rng, const OpGraph& graph) {
  std::vector<OpNode> nodes(graph.nodes().begin(), graph.nodes().end());
  std::vector<OpEdge> edges(graph.edges().begin(), graph.edges().end());
  std::map<int64_t, double> bytes;
  for (OpNode& node : nodes) {
    node.flops += 100 * rng.Uniform();
    node.output_bytes += 10 + 100 * rng.Uniform();
    bytes[node.id] = node.output_bytes;
  }
  for (OpEdge& edge : edges) edge.bytes = bytes[edge.from_id];
  return *OpGraph::Create(std::move(nodes), std::move(edges));
}

TEST(PipelineSimulatorTest, OneChipExecutesOneNodeAfterTheOther) {
  const PipelineResult result =
      SimulatePipeline(Chain(2), SmallPackage(2, 1e9), {0, 0, 0});
  // 2 ms and 1 us of overhead each.
  EXPECT_NEAR(result.interval, 6.003, 1e-9);
  EXPECT_NEAR(result.latency, 6.003, 1e-9);
  EXPECT_NEAR(result.chip_busy[0], 6.003, 1e-9);
  EXPECT_EQ(result.chip_busy[1], 0);
  EXPECT_EQ(result.link_busy[0], 0);
}

TEST(PipelineSimulatorTest, AChainTakesWhatItsBusiestChipDoes) {
  // Without delays, the interval is the load by the analytical model.
  const PartitionGraph graph = Chain(3);
  const PipelineResult result =
      SimulatePipeline(graph, WithoutDelays(3), {0, 1, 2});
  EXPECT_NEAR(result.interval, 4, 1e-9);
  EXPECT_NEAR(result.interval,
              graphs::ComputeChipLoads(graph, {0, 1, 2}).max_load, 1e-9);
  // Each output waits for nobody: computed, sent and taken.
  EXPECT_NEAR(result.latency, 2 + 1 + 1 + 2 + 1 + 1 + 2, 1e-9);
}

TEST(PipelineSimulatorTest, WhatPassesThroughDelaysOthers) {
  // 0 sends to 1 and to 3; 1 sends to 2; the output for 3 crosses all links.
  std::vector<OpNode> nodes;
  for (int64_t i = 0; i < 5; ++i) {
    nodes.push_back(
        {.id = i, .opcode = "dot", .flops = 5e6, .output_bytes = 4e6});
  }
  const PartitionGraph graph = *PartitionGraph::Create(
      *OpGraph::Create(nodes, {{0, 1, 4e6}, {2, 3, 4e6}, {1, 4, 4e6}}),
      WithoutDelays(4));
  const std::vector<int32_t> chips = {0, 1, 0, 3, 2};
  const PipelineResult result =
      SimulatePipeline(graph, WithoutDelays(4), chips);
  EXPECT_NEAR(result.link_busy[1], 8, 1e-9);
  EXPECT_NEAR(result.link_busy[2], 4, 1e-9);
  EXPECT_GE(result.interval,
            graphs::ComputeChipLoads(graph, chips).max_load - 1e-9);
}

TEST(PipelineSimulatorTest, AgreesWithTheDefinition) {
  Rng rng(6);
  int crossing = 0;
  for (int i = 0; i < 300; ++i) {
    const auto k = 1 + static_cast<int32_t>(rng.Below(5));
    Package package = SmallPackage(k, 1e9);
    package.op_seconds = 1.37e-5 * rng.Uniform();
    package.link.latency_seconds = 2.11e-5 * rng.Uniform();
    package.flops_per_second = 1e9 * (0.5 + rng.Uniform());
    package.bytes_per_second = 1e9 * (0.5 + rng.Uniform());
    package.link.bytes_per_second = 1e9 * (0.3 + rng.Uniform());
    const PartitionGraph graph = *PartitionGraph::Create(
        Perturbed(rng, hone::testing::RandomLayers(rng, 2 + rng.Below(12))),
        package);
    const std::vector<int32_t> chips = RandomFlow(rng, graph);
    const PipelineResult result = SimulatePipeline(graph, package, chips);
    ASSERT_EQ(result.excess_bytes, 0);
    const std::vector<double> expected =
        PipelineByDefinition(graph, package, chips, 48);
    ASSERT_NEAR(result.latency, expected[0], 1e-9 * expected[0]) << i;
    const double busiest = std::max(
        *std::max_element(result.chip_busy.begin(), result.chip_busy.end()),
        *std::max_element(result.link_busy.begin(), result.link_busy.end()));
    ASSERT_NEAR(result.interval,
                std::max(busiest, (expected[47] - expected[15]) / 32),
                1e-9 * expected[0])
        << i;
    if (*std::max_element(result.link_busy.begin(), result.link_busy.end()) >
        0) {
      ++crossing;
    }
  }
  EXPECT_GT(crossing, 100);
}

TEST(PipelineSimulatorTest, NoChipOrLinkIsBusierThanTheInterval) {
  Rng rng(7);
  for (int i = 0; i < 200; ++i) {
    const auto k = 1 + static_cast<int32_t>(rng.Below(8));
    const PartitionGraph graph =
        RandomPartitionGraph(rng, 2 + rng.Below(30), k);
    const std::vector<int32_t> chips = RandomFlow(rng, graph);
    const PipelineResult result =
        SimulatePipeline(graph, SmallPackage(k, 1e9), chips, true);
    const double tolerance = 1e-9 * result.latency;
    for (size_t c = 0; c < result.chip_busy.size(); ++c) {
      ASSERT_LE(result.chip_busy[c], result.interval + tolerance) << i;
      ASSERT_LE(result.link_busy[c], result.interval + tolerance) << i;
    }
    // Events of a chip or link do not overlap.
    std::vector<double> chip_free(result.chip_busy.size());
    std::vector<double> link_free(result.chip_busy.size());
    for (const PipelineEvent& event : result.events) {
      double& free = event.kind == PipelineEvent::Kind::kLink
                         ? link_free[static_cast<size_t>(event.chip)]
                         : chip_free[static_cast<size_t>(event.chip)];
      ASSERT_GE(event.begin, free - tolerance);
      free = event.end;
    }
  }
}

TEST(PipelineMemoryTest, CountsWhatIsLive) {
  // On one chip: the output of a lives until b has been executed.
  const PipelineMemory one = FindPipelineMemory(Chain(1), {0, 0, 0});
  EXPECT_EQ(one.chips[0].resident, 300);
  EXPECT_EQ(one.chips[0].buffers, 0);
  EXPECT_EQ(one.chips[0].live, 2e6);
  EXPECT_EQ(one.chips[0].working, 2e6);
  EXPECT_EQ(one.chips[0].spilled, 0);
  // The output of a has two buffers on chip 1.
  const PipelineMemory two = FindPipelineMemory(Chain(2), {0, 1, 1});
  EXPECT_EQ(two.chips[0].live, 1e6);
  EXPECT_EQ(two.chips[1].buffers, 2e6);
  EXPECT_EQ(two.chips[1].live, 2e6);
}

TEST(PipelineMemoryTest, WhatDoesNotFitSpillsOrFails) {
  // a is read by b and by d: while c runs, it can be elsewhere.
  std::vector<OpNode> nodes;
  for (int64_t i = 0; i < 4; ++i) {
    nodes.push_back(
        {.id = i, .opcode = "dot", .flops = 2e6, .output_bytes = 1e6});
  }
  const auto graph = [&](double memory) {
    return *PartitionGraph::Create(
        *OpGraph::Create(nodes,
                         {{0, 1, 1e6}, {1, 2, 1e6}, {2, 3, 1e6}, {0, 3, 1e6}}),
        SmallPackage(1, memory));
  };
  // d reads two and makes one.
  const PipelineMemory ample = FindPipelineMemory(graph(3e6), {0, 0, 0, 0});
  EXPECT_EQ(ample.chips[0].live, 3e6);
  EXPECT_EQ(ample.chips[0].working, 3e6);
  EXPECT_EQ(ample.chips[0].excess, 0);
  const PipelineMemory tight = FindPipelineMemory(graph(2.5e6), {0, 0, 0, 0});
  EXPECT_EQ(tight.chips[0].excess, 0.5e6);
  const PipelineResult result =
      SimulatePipeline(graph(2.5e6), SmallPackage(1, 2.5e6), {0, 0, 0, 0});
  EXPECT_EQ(result.excess_bytes, 0.5e6);
  EXPECT_EQ(result.fullest_chip, 0);

  // b and c need 2 MB, and d, which makes nothing, but a is there as well: a
  // part of it goes away while c runs.
  nodes[3].output_bytes = 0;
  const PartitionGraph spilling = *PartitionGraph::Create(
      *OpGraph::Create(nodes, {{0, 3, 1e6}, {1, 2, 1e6}, {2, 3, 1e6}}),
      SmallPackage(1, 2.25e6));
  const PipelineMemory spilled = FindPipelineMemory(spilling, {0, 0, 0, 0});
  EXPECT_EQ(spilled.chips[0].excess, 0);
  EXPECT_EQ(spilled.chips[0].spilled, 0.75e6);
  // There and back, at 1e8 bytes/s: 15 ms.
  EXPECT_NEAR(SimulatePipeline(spilling, SmallPackage(1, 2.25e6), {0, 0, 0, 0})
                  .interval,
              4 * 2.001 + 15, 1e-9);
}

}  // namespace
}  // namespace hone::backends
