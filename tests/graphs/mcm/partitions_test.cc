#include "graphs/mcm/partitions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/mcm/chip_loads.h"
#include "graphs/mcm/partition_rules.h"
#include "graphs/topological_orders.h"
#include "tests/graphs/mcm/partition_by_definition.h"
#include "tests/graphs/mcm/random_partition_graph.h"
#include "tests/support/status_matchers.h"

namespace hone::graphs {
namespace {

using ::hone::testing::ForEachPartition;
using ::hone::testing::IsChain;
using ::hone::testing::IsValidByDefinition;
using ::hone::testing::MaxLoadByDefinition;
using ::hone::testing::RandomPartitionGraph;

constexpr double kNone = std::numeric_limits<double>::infinity();

double LoadOf(const PartitionGraph& graph,
              const std::optional<Partition>& chips) {
  return chips ? ComputeChipLoads(graph, *chips).max_load : kNone;
}

// The least max load over all ways to cut `order`.
double BestCut(const PartitionGraph& graph,
               const std::vector<NodeIndex>& order) {
  double best = kNone;
  std::vector<int32_t> chips(graph.size());
  const std::function<void(size_t, int32_t)> cut = [&](size_t i, int32_t chip) {
    if (i == order.size()) {
      if (IsChain(graph, chips) && IsValidByDefinition(graph, chips)) {
        best = std::min(best, MaxLoadByDefinition(graph, chips));
      }
      return;
    }
    chips[order[i]] = chip;
    cut(i + 1, chip);
    if (i > 0 && chip + 1 < graph.chips()) {
      chips[order[i]] = chip + 1;
      cut(i + 1, chip + 1);
    }
  };
  cut(0, 0);
  return best;
}

TEST(PartitionSegmentsTest, IsTheBestCutOfTheOrder) {
  Rng rng(2);
  int found = 0;
  for (int i = 0; i < 300; ++i) {
    const PartitionGraph graph = RandomPartitionGraph(
        rng, 2 + rng.Below(11), 1 + static_cast<int32_t>(rng.Below(5)),
        i % 3 == 0);
    std::vector<float> priorities(graph.size());
    for (float& priority : priorities) {
      priority = static_cast<float>(rng.Uniform());
    }
    const std::vector<NodeIndex> order =
        OrderByPriorities(graph.adjacency(), priorities);
    const std::optional<Partition> chips =
        PartitionSegments(graph, order, nullptr);
    const double expected = BestCut(graph, order);
    ASSERT_EQ(chips.has_value(), expected < kNone) << i;
    if (!chips) continue;
    ++found;
    HONE_ASSERT_OK(CheckPartition(graph, *chips));
    ASSERT_NEAR(LoadOf(graph, chips), expected, 1e-9 * expected) << i;
    const std::optional<Partition> rough =
        PartitionSegments(graph, order, nullptr, 0.05);
    ASSERT_TRUE(rough.has_value());
    HONE_ASSERT_OK(CheckPartition(graph, *rough));
    ASSERT_LE(LoadOf(graph, rough), expected * 1.05 * (1 + 1e-9)) << i;
  }
  EXPECT_GT(found, 200);
}

TEST(PartitionSegmentsTest, AllOrdersTogetherReachTheBestChain) {
  Rng rng(3);
  for (int i = 0; i < 40; ++i) {
    const PartitionGraph graph =
        RandomPartitionGraph(rng, 6, 1 + static_cast<int32_t>(rng.Below(3)));
    double expected = kNone;
    double best = kNone;
    ForEachPartition(graph, [&](const std::vector<int32_t>& chips) {
      if (!IsValidByDefinition(graph, chips) || !IsChain(graph, chips)) return;
      expected = std::min(expected, MaxLoadByDefinition(graph, chips));
      // The order of a partition gives it, or a better one.
      std::vector<float> priorities;
      for (const int32_t chip : chips) {
        priorities.push_back(static_cast<float>(-chip));
      }
      const double load = LoadOf(
          graph, PartitionSegments(
                     graph, OrderByPriorities(graph.adjacency(), priorities),
                     nullptr));
      ASSERT_LE(load, MaxLoadByDefinition(graph, chips) * (1 + 1e-9));
      best = std::min(best, load);
    });
    EXPECT_NEAR(best, expected, 1e-9 * expected);
  }
}

TEST(PartitionSegmentsTest, LongOrdersAreCutInChunks) {
  std::vector<OpNode> nodes;
  std::vector<OpEdge> edges;
  for (int64_t i = 0; i < 9001; ++i) {
    nodes.push_back(
        {.id = i, .opcode = "dot", .flops = 1e6, .output_bytes = 8});
    if (i > 0) edges.push_back({i - 1, i, 8});
  }
  const PartitionGraph graph = *PartitionGraph::Create(
      *OpGraph::Create(nodes, edges), hone::testing::SmallPackage(8, 1e9));
  const std::optional<Partition> chips = PartitionByOrders(graph, nullptr);
  ASSERT_TRUE(chips.has_value());
  HONE_ASSERT_OK(CheckPartition(graph, *chips));
  // Of 1,125.125 on average, up to a chunk of three.
  EXPECT_LE(LoadOf(graph, chips), 1129);
}

TEST(PartitionSegmentsTest, EndsWhenItIsStopped) {
  Rng rng(4);
  const PartitionGraph graph = RandomPartitionGraph(rng, 40, 4);
  EXPECT_EQ(PartitionByOrders(graph, [] { return true; }), std::nullopt);
}

TEST(FillGreedilyTest, KeepsTheRules) {
  Rng rng(5);
  int found = 0;
  for (int i = 0; i < 300; ++i) {
    const PartitionGraph graph = RandomPartitionGraph(
        rng, 2 + rng.Below(60), 1 + static_cast<int32_t>(rng.Below(36)),
        i % 4 == 0);
    const std::optional<Partition> chips = FillGreedily(graph);
    // One chip has room for all where memory is ample.
    ASSERT_TRUE(chips.has_value() || i % 4 == 0) << i;
    if (!chips) continue;
    ++found;
    ASSERT_TRUE(IsValidByDefinition(graph, *chips)) << i;
    ASSERT_TRUE(IsChain(graph, *chips)) << i;
  }
  EXPECT_GT(found, 230);
}

TEST(FillGreedilyTest, SharesTheWorkOfAChain) {
  std::vector<OpNode> nodes;
  std::vector<OpEdge> edges;
  for (int64_t i = 0; i < 12; ++i) {
    nodes.push_back(
        {.id = i, .opcode = "dot", .flops = 1e6, .output_bytes = 8});
    if (i > 0) edges.push_back({i - 1, i, 8});
  }
  const PartitionGraph graph = *PartitionGraph::Create(
      *OpGraph::Create(nodes, edges), hone::testing::SmallPackage(4, 1e9));
  EXPECT_EQ(FillGreedily(graph),
            (Partition{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}));
}

}  // namespace
}  // namespace hone::graphs
