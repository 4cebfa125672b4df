#include "graphs/mcm/partition_rules.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/mcm/chip_loads.h"
#include "tests/graphs/mcm/partition_by_definition.h"
#include "tests/graphs/mcm/random_partition_graph.h"
#include "tests/support/status_matchers.h"

namespace hone::graphs {
namespace {

using ::hone::testing::ForEachPartition;
using ::hone::testing::IsValidByDefinition;
using ::hone::testing::MaxLoadByDefinition;
using ::hone::testing::RandomPartitionGraph;
using ::hone::testing::SmallPackage;
using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

// a -> b -> d, a -> c -> d, a -> d.
PartitionGraph Diamond(int32_t chips, double memory = 1e9) {
  const auto node = [](int64_t id, const char* name) {
    return OpNode{.id = id,
                  .name = name,
                  .opcode = "dot",
                  .flops = 1e6,
                  .output_bytes = 1e6,
                  .parameter_bytes = 100};
  };
  return *PartitionGraph::Create(
      *OpGraph::Create(
          {node(0, "a"), node(1, "b"), node(2, "c"), node(3, "d")},
          {{0, 1, 1e6}, {0, 2, 1e6}, {1, 3, 1e6}, {2, 3, 1e6}, {0, 3, 1e6}}),
      SmallPackage(chips, memory));
}

TEST(PartitionRulesTest, EachRuleIsNamed) {
  const PartitionGraph graph = Diamond(4, 350);
  const auto expect = [&](std::vector<int32_t> chips, const char* message) {
    EXPECT_THAT(
        CheckPartition(graph, chips),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  };
  HONE_EXPECT_OK(CheckPartition(graph, {0, 0, 1, 1}));
  expect({0, 1, 1}, "3 chips for 4 nodes");
  expect({0, 1, 1, 4}, "'d' is on chip 4, expected 0 to 3");
  expect({1, 0, 1, 1}, "node 'b' on chip 0 reads 'a' on chip 1");
  expect({0, 2, 2, 2}, "chip 1 has no node and chip 2 has");
  expect({0, 1, 1, 2}, "chip 0 sends to chip 2 directly and over others");
  expect({0, 0, 0, 0}, "400 bytes from the start, 50 more than its memory");
}

TEST(PartitionRulesTest, BranchesOfChipsAreLegal) {
  // Without a -> d, b and c may be on chips of their own.
  const auto node = [](int64_t id) {
    return OpNode{.id = id, .opcode = "dot", .flops = 1, .output_bytes = 1};
  };
  const PartitionGraph graph = *PartitionGraph::Create(
      *OpGraph::Create({node(0), node(1), node(2), node(3)},
                       {{0, 1, 1}, {0, 2, 1}, {1, 3, 1}, {2, 3, 1}}),
      SmallPackage(4, 1e9));
  HONE_EXPECT_OK(CheckPartition(graph, {0, 1, 2, 3}));
}

TEST(PartitionRulesTest, AgreesWithTheDefinitionOnAllSmallGraphs) {
  Rng rng(1);
  int64_t valid = 0;
  int64_t invalid = 0;
  for (int i = 0; i < 60; ++i) {
    const PartitionGraph graph = RandomPartitionGraph(
        rng, 2 + rng.Below(5), 1 + static_cast<int32_t>(rng.Below(4)),
        i % 2 == 0);
    ForEachPartition(graph, [&](const std::vector<int32_t>& chips) {
      const bool is_valid = IsValidByDefinition(graph, chips);
      ++(is_valid ? valid : invalid);
      ASSERT_EQ(CheckPartition(graph, chips).ok(), is_valid);
      ASSERT_EQ(FindFaults(graph, chips).violation == 0, is_valid);
      ASSERT_DOUBLE_EQ(ComputeChipLoads(graph, chips).max_load,
                       MaxLoadByDefinition(graph, chips));
    });
  }
  EXPECT_GT(valid, 500);
  EXPECT_GT(invalid, 500);
}

}  // namespace
}  // namespace hone::graphs
