#include "graphs/mcm/partition_graph.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "tests/graphs/mcm/random_partition_graph.h"
#include "tests/support/status_matchers.h"

namespace hone::graphs {
namespace {

using ::hone::testing::RandomPartitionGraph;
using ::hone::testing::SmallPackage;
using ::hone::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

TEST(PartitionGraphTest, OperatorsTakeTheRooflineOfAChip) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const OpGraph ops,
      OpGraph::Create({{.id = 7,
                        .name = "a",
                        .opcode = "dot",
                        .flops = 3e6,
                        .bytes = 1e6,
                        .output_bytes = 5e6,
                        .parameter_bytes = 40},
                       {.id = 3, .opcode = "add", .flops = 1e6, .bytes = 2e6},
                       {.id = 4, .opcode = "add"}},
                      // Parts of a tuple.
                      {{7, 3, 2e6}, {7, 4, 3e6}}));
  HONE_ASSERT_OK_AND_ASSIGN(const PartitionGraph graph,
                            PartitionGraph::Create(ops, SmallPackage(4, 1e9)));
  ASSERT_EQ(graph.size(), 3u);
  EXPECT_EQ(graph.node(0).time, 3);
  EXPECT_EQ(graph.node(0).transfer_time, 3);
  EXPECT_EQ(graph.node(0).resident_bytes, 40);
  EXPECT_EQ(graph.node(0).output_bytes, 5e6);
  EXPECT_EQ(graph.node(1).time, 2);
  EXPECT_EQ(graph.chips(), 4);
  EXPECT_EQ(graph.memory_bytes(), 1e9);
}

TEST(PartitionGraphTest, SourcesAreWhatCostsNothingToMakeAgain) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const OpGraph ops,
      OpGraph::Create(
          {{.id = 0, .opcode = "dot", .flops = 1},
           {.id = 1,
            .opcode = "parameter",
            .output_bytes = 8,
            .parameter_bytes = 8},
           {.id = 2, .opcode = "iota", .output_bytes = 4},
           {.id = 3, .opcode = "broadcast", .output_bytes = 16},
           // Of something that was computed.
           {.id = 4, .opcode = "broadcast", .output_bytes = 16},
           {.id = 5, .opcode = "compare", .output_bytes = 4},
           // Without predecessors, but work.
           {.id = 6, .opcode = "rng", .flops = 9, .output_bytes = 4}},
          {{1, 3, 8},
           {2, 3, 4},
           {3, 0, 16},
           {1, 0, 8},
           {0, 4, 8},
           {4, 5, 16},
           {0, 5, 8},
           {3, 5, 16}}));
  HONE_ASSERT_OK_AND_ASSIGN(const PartitionGraph graph,
                            PartitionGraph::Create(ops, SmallPackage(4, 1e9)));
  // Nodes 0, 4, 5, 6 are left.
  ASSERT_EQ(graph.size(), 4u);
  EXPECT_THAT(graph.node(1).origins, ElementsAre(4));
  ASSERT_EQ(graph.sources().size(), 3u);
  EXPECT_EQ(graph.sources()[0].resident_bytes, 8);
  // Only parameters are there from the start.
  EXPECT_EQ(graph.sources()[2].resident_bytes, 0);
  EXPECT_THAT(graph.sources()[2].readers, ElementsAre(0, 2));
  // Through the broadcast, too.
  EXPECT_THAT(graph.sources()[0].readers, ElementsAre(0, 2));
  EXPECT_THAT(graph.sources_of(2), ElementsAre(0, 1, 2));
  EXPECT_THAT(graph.adjacency().successors(0), ElementsAre(1, 2));
  // By node of the graph that was given: a source is where its first reader is.
  const std::vector<int32_t> chips = {2, 2, 3, 0};
  EXPECT_THAT(graph.ChipsOfOrigins(chips), ElementsAre(2, 2, 2, 2, 2, 3, 0));
}

TEST(PartitionGraphTest, WhatIsCheapToMakeAgainIsASource) {
  // A mask that takes less than a twentieth of half of the work: its copies
  // take their time.
  const auto graph_of = [](double flops) {
    return PartitionGraph::Create(
        *OpGraph::Create(
            {{.id = 0, .opcode = "iota", .output_bytes = 8},
             {.id = 1, .opcode = "compare", .flops = flops, .output_bytes = 8},
             {.id = 2, .opcode = "dot", .flops = 1e6},
             {.id = 3, .opcode = "dot", .flops = 1e6}},
            {{0, 1, 8}, {1, 2, 8}, {1, 3, 8}}),
        SmallPackage(2, 1e9));
  };
  HONE_ASSERT_OK_AND_ASSIGN(const PartitionGraph cheap, graph_of(4e4));
  ASSERT_EQ(cheap.sources().size(), 2u);
  EXPECT_EQ(cheap.sources()[1].time, 0.04);
  EXPECT_THAT(cheap.sources()[0].readers, ElementsAre(0, 1));
  EXPECT_NEAR(cheap.total_time(), 2.04, 1e-12);
  HONE_ASSERT_OK_AND_ASSIGN(const PartitionGraph dear, graph_of(8e4));
  EXPECT_EQ(dear.size(), 3u);
}

TEST(PartitionGraphTest, ManyCheapNodesAreNoSourceTogether) {
  // Each node takes a thousandth of the work; a chip's share is half of it.
  std::vector<OpNode> nodes;
  std::vector<OpEdge> edges;
  for (int64_t i = 0; i < 1000; ++i) {
    nodes.push_back({.id = i, .opcode = "add", .flops = 1e3});
    if (i > 0) edges.push_back({i - 1, i, 8});
  }
  HONE_ASSERT_OK_AND_ASSIGN(
      const PartitionGraph graph,
      PartitionGraph::Create(*OpGraph::Create(nodes, edges),
                             SmallPackage(2, 1e9)));
  // The first ones take up to a twentieth of a share.
  EXPECT_NEAR(static_cast<double>(graph.sources().size()), 25, 1);
}

TEST(PartitionGraphTest, ResultsAreNoSources) {
  // Each node takes a hundredth of the work, and nobody reads it.
  HONE_ASSERT_OK_AND_ASSIGN(
      const PartitionGraph graph,
      PartitionGraph::Create(
          *OpGraph::Create(
              std::vector<OpNode>{{.id = 0, .opcode = "iota"},
                                  {.id = 1, .opcode = "broadcast"},
                                  {.id = 2, .opcode = "add", .flops = 1},
                                  {.id = 3, .opcode = "add", .flops = 1e6}},
              {{0, 1, 8}, {0, 2, 8}, {0, 3, 8}}),
          SmallPackage(2, 1e9)));
  EXPECT_EQ(graph.size(), 3u);
  EXPECT_EQ(graph.sources().size(), 1u);
}

TEST(PartitionGraphTest, WhatNoChipGainsByBelongsToItsReader) {
  // 0 -> 1 -> 2 -> 3: a transfer takes longer than 0 and 1, not than 2.
  HONE_ASSERT_OK_AND_ASSIGN(
      const OpGraph ops,
      OpGraph::Create(
          {{.id = 0, .opcode = "dot", .flops = 1e3, .output_bytes = 2e3},
           {.id = 1,
            .opcode = "dot",
            .flops = 1e3,
            .output_bytes = 2e3,
            .parameter_bytes = 7},
           {.id = 2, .opcode = "dot", .flops = 1e3, .output_bytes = 2e3},
           {.id = 3, .opcode = "dot", .flops = 1e3}},
          {{0, 1, 2e3}, {1, 2, 2e3}, {2, 3, 2e3}}));
  HONE_ASSERT_OK_AND_ASSIGN(const PartitionGraph graph,
                            PartitionGraph::Create(ops, SmallPackage(4, 1e9)));
  ASSERT_EQ(graph.size(), 2u);
  EXPECT_NEAR(graph.node(0).time, 3e-3, 1e-15);
  EXPECT_EQ(graph.node(0).resident_bytes, 7);
  EXPECT_THAT(graph.node(0).origins, ElementsAre(2, 1, 0));
  EXPECT_THAT(graph.adjacency().successors(0), ElementsAre(1));
  EXPECT_THAT(graph.ChipsOfOrigins(std::vector<int32_t>{1, 2}),
              ElementsAre(1, 1, 1, 2));
}

// Two tables of a chip's memory each: with their reader they fit nowhere.
TEST(PartitionGraphTest, WhatDoesNotFitWithItsReaderStaysANode) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const OpGraph ops,
      OpGraph::Create({{.id = 0,
                        .opcode = "gather",
                        .output_bytes = 8e3,
                        .parameter_bytes = 900},
                       {.id = 1,
                        .opcode = "gather",
                        .output_bytes = 8e3,
                        .parameter_bytes = 900},
                       {.id = 2, .opcode = "dot", .flops = 1e6}},
                      {{0, 2, 8e3}, {1, 2, 8e3}}));
  HONE_ASSERT_OK_AND_ASSIGN(const PartitionGraph roomy,
                            PartitionGraph::Create(ops, SmallPackage(4, 1e4)));
  EXPECT_EQ(roomy.size(), 1u);
  EXPECT_EQ(roomy.node(0).resident_bytes, 1800);
  HONE_ASSERT_OK_AND_ASSIGN(const PartitionGraph tight,
                            PartitionGraph::Create(ops, SmallPackage(4, 1000)));
  EXPECT_EQ(tight.size(), 2u);
  for (const PartitionNode& node : tight.nodes()) {
    EXPECT_EQ(node.resident_bytes, 900);
  }
}

TEST(PartitionGraphTest, WeightedGraphsBringTheirTimes) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const DeviceGraph weighted,
      DeviceGraph::Create({.max_accelerator_bytes = 50, .accelerators = 6},
                          {{.id = 0, .size_bytes = 5},
                           {.id = 1, .accelerator_latency = 2, .size_bytes = 7},
                           {.id = 2, .accelerator_latency = 0}},
                          {{0, 1, 9}, {1, 2, 1}}));
  HONE_ASSERT_OK_AND_ASSIGN(
      const PartitionGraph graph,
      PartitionGraph::Create(weighted, SmallPackage(3, 1e9)));
  EXPECT_EQ(graph.chips(), 3);
  EXPECT_EQ(graph.memory_bytes(), 50);
  ASSERT_EQ(graph.size(), 2u);
  EXPECT_EQ(graph.node(0).time, 2);
  EXPECT_EQ(graph.node(0).transfer_time, 1);
  EXPECT_EQ(graph.node(0).resident_bytes, 7);
  ASSERT_EQ(graph.sources().size(), 1u);
  EXPECT_EQ(graph.sources()[0].resident_bytes, 5);
}

TEST(PartitionGraphTest, OverheadsAddToTheTimesOfNodesAndToNothingElse) {
  Rng rng(5);
  size_t joined = 0;
  for (int i = 0; i < 40; ++i) {
    const PartitionGraph graph =
        RandomPartitionGraph(rng, 2 + rng.Below(40), 4, i % 2 == 0);
    const double overhead = i == 0 ? 0 : rng.Uniform();
    const PartitionGraph with = graph.WithOverheads(overhead);
    ASSERT_EQ(with.size(), graph.size());
    EXPECT_EQ(with.chips(), graph.chips());
    EXPECT_EQ(with.memory_bytes(), graph.memory_bytes());
    EXPECT_EQ(with.origin_count(), graph.origin_count());
    size_t operators = 0;
    for (NodeIndex v = 0; v < graph.size(); ++v) {
      const PartitionNode& before = graph.node(v);
      const PartitionNode& after = with.node(v);
      operators += before.origins.size();
      if (before.origins.size() > 1) ++joined;
      EXPECT_DOUBLE_EQ(
          after.time,
          before.time + overhead * static_cast<double>(before.origins.size()));
      EXPECT_EQ(after.name, before.name);
      EXPECT_EQ(after.transfer_time, before.transfer_time);
      EXPECT_EQ(after.resident_bytes, before.resident_bytes);
      EXPECT_EQ(after.output_bytes, before.output_bytes);
      EXPECT_EQ(after.origins, before.origins);
      EXPECT_THAT(with.adjacency().successors(v),
                  ElementsAreArray(graph.adjacency().successors(v)));
      EXPECT_THAT(with.adjacency().predecessors(v),
                  ElementsAreArray(graph.adjacency().predecessors(v)));
      EXPECT_THAT(with.sources_of(v), ElementsAreArray(graph.sources_of(v)));
    }
    EXPECT_THAT(with.topological_order(),
                ElementsAreArray(graph.topological_order()));
    ASSERT_EQ(with.sources().size(), graph.sources().size());
    for (size_t s = 0; s < graph.sources().size(); ++s) {
      const PartitionSource& before = graph.sources()[s];
      const PartitionSource& after = with.sources()[s];
      EXPECT_EQ(after.name, before.name);
      EXPECT_EQ(after.time, before.time);
      EXPECT_EQ(after.resident_bytes, before.resident_bytes);
      EXPECT_EQ(after.origin, before.origin);
      EXPECT_EQ(after.readers, before.readers);
    }
    EXPECT_NEAR(with.total_time(),
                graph.total_time() + overhead * static_cast<double>(operators),
                1e-9);
  }
  EXPECT_GT(joined, 5u);
}

TEST(PartitionGraphTest, WhatChipsHaveNoRuleForIsRefused) {
  const DeviceLimits limits = {
      .max_accelerator_bytes = 50, .accelerators = 2, .cpus = 1};
  const auto create = [&](const DeviceNode& node, int64_t other_class = 5) {
    const DeviceNode other = {
        .id = 1, .accelerator_latency = 1, .color_class = other_class};
    return PartitionGraph::Create(
        *DeviceGraph::Create(limits, {node, other}, {}), SmallPackage(3, 1e9));
  };
  const DeviceNode colored = {.accelerator_latency = 1, .color_class = 4};
  HONE_EXPECT_OK(create(colored));
  EXPECT_THAT(create(colored, 4),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("nodes[1] shares its color class")));
  EXPECT_THAT(
      create({.accelerator_latency = 1, .supported_on_accelerator = false}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("nodes[0] is not supported on accelerators")));
  EXPECT_THAT(PartitionGraph::Create(*DeviceGraph::Create(limits, {{}}, {}),
                                     SmallPackage(3, 1e9)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("expected work to partition")));
}

}  // namespace
}  // namespace hone::graphs
