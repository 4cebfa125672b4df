#include "graphs/mcm/partition_bounds.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/mcm/chip_loads.h"
#include "graphs/mcm/partition_rules.h"
#include "tests/graphs/mcm/partition_by_definition.h"
#include "tests/graphs/mcm/random_partition_graph.h"
#include "tests/support/status_matchers.h"

namespace hone::graphs {
namespace {

using ::hone::testing::ForEachPartition;
using ::hone::testing::IsValidByDefinition;
using ::hone::testing::MaxLoadByDefinition;
using ::hone::testing::RandomPartitionGraph;

TEST(PartitionBoundsTest, NoPartitionIsBelow) {
  Rng rng(30);
  int reached = 0;
  int exact = 0;
  for (int i = 0; i < 80; ++i) {
    const PartitionGraph graph = RandomPartitionGraph(
        rng, 2 + rng.Below(6), 1 + static_cast<int32_t>(rng.Below(4)),
        i % 4 == 0);
    const PartitionBounds bounds = FindPartitionBounds(graph, nullptr);
    double best = std::numeric_limits<double>::infinity();
    ForEachPartition(graph, [&](const std::vector<int32_t>& chips) {
      if (!IsValidByDefinition(graph, chips)) return;
      best = std::min(best, MaxLoadByDefinition(graph, chips));
    });
    ASSERT_LE(bounds.greatest(), best * (1 + 1e-9)) << i;
    if (bounds.greatest() >= best * (1 - 1e-9)) ++reached;
    if (!bounds.best_pipeline) continue;
    ++exact;
    HONE_ASSERT_OK(CheckPartition(graph, *bounds.best_pipeline));
    // Copies of sources may take time.
    ASSERT_LE(
        bounds.pipeline,
        ComputeChipLoads(graph, *bounds.best_pipeline).max_load * (1 + 1e-9));
  }
  EXPECT_GT(reached, 50);
  EXPECT_GT(exact, 40);
}

TEST(PartitionBoundsTest, TransfersCountInAPipeline) {
  // Two nodes of 1 ms and a transfer of 0.5 ms: apart they take 1.5 ms, as the
  // work alone does not say.
  const PartitionGraph graph = *PartitionGraph::Create(
      *OpGraph::Create(
          {{.id = 0, .opcode = "dot", .flops = 1e6, .output_bytes = 5e5},
           {.id = 1, .opcode = "dot", .flops = 1e6}},
          {{0, 1, 5e5}}),
      hone::testing::SmallPackage(2, 1e9));
  const PartitionBounds bounds = FindPartitionBounds(graph, nullptr);
  EXPECT_DOUBLE_EQ(bounds.shared_work, 1);
  EXPECT_DOUBLE_EQ(bounds.largest_node, 1);
  EXPECT_DOUBLE_EQ(bounds.pipeline, 1.5);
  EXPECT_EQ(bounds.best_pipeline, (Partition{0, 1}));
}

TEST(PartitionBoundsTest, ManyNodesOfOneSizeShareChips) {
  std::vector<OpNode> nodes;
  for (int64_t i = 0; i < 3; ++i) {
    nodes.push_back({.id = i, .opcode = "dot", .flops = 1e6});
  }
  const PartitionGraph graph = *PartitionGraph::Create(
      *OpGraph::Create(nodes, {}), hone::testing::SmallPackage(2, 1e9));
  EXPECT_DOUBLE_EQ(FindPartitionBounds(graph, nullptr).pigeonhole, 2);
}

}  // namespace
}  // namespace hone::graphs
