#include "tuning/tasks/partition_decision.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/mcm/partitions.h"
#include "tests/graphs/mcm/random_partition_graph.h"
#include "tests/support/status_matchers.h"

namespace hone::tuning {
namespace {

using graphs::PartitionGraph;
using ::hone::testing::RandomLayers;
using ::hone::testing::SmallPackage;
using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

constexpr absl::string_view kRest =
    R"(,"objective":"interval","lower_bound":2.5})";

std::string AssignmentOf(const std::vector<int32_t>& chips) {
  return absl::StrCat(R"({"assignment":[)", absl::StrJoin(chips, ","), "]");
}

class PartitionDecisionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Rng rng(20);
    const graphs::Package package = SmallPackage(4, 1e9);
    HONE_ASSERT_OK_AND_ASSIGN(
        graph_, PartitionGraph::Create(RandomLayers(rng, 30), package));
    const std::optional<graphs::Partition> greedy =
        graphs::FillGreedily(*graph_);
    ASSERT_TRUE(greedy.has_value());
    chips_ = *greedy;
  }

  std::optional<PartitionGraph> graph_;
  std::vector<int32_t> chips_;
};

TEST_F(PartitionDecisionTest, ReadsChipsObjectiveAndBound) {
  const std::string json =
      absl::StrCat(AssignmentOf(graph_->ChipsOfOrigins(chips_)), kRest);
  EXPECT_EQ(ChipsOfDecision(*graph_, json), chips_);
  HONE_ASSERT_OK_AND_ASSIGN(const PartitionDecision decision,
                            ParsePartitionDecision(*graph_, json));
  EXPECT_EQ(decision.chips, chips_);
  EXPECT_EQ(decision.objective, "interval");
  EXPECT_EQ(decision.lower_bound, 2.5);
}

TEST_F(PartitionDecisionTest, RefusesWhatIsNoPartition) {
  std::vector<int32_t> chips = graph_->ChipsOfOrigins(chips_);
  const std::string good = AssignmentOf(chips);
  const std::vector<int32_t> fewer(chips.begin(), chips.end() - 1);
  std::vector<int32_t> beyond = chips;
  beyond[graph_->node(0).origins[0]] = graph_->chips();
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"),
        std::string(R"({"assignment":7})"), AssignmentOf(fewer) + "}",
        AssignmentOf(beyond) + "}"}) {
    EXPECT_EQ(ChipsOfDecision(*graph_, text), std::nullopt) << text;
    EXPECT_THAT(ParsePartitionDecision(*graph_, text),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("is no partition of this graph")))
        << text;
  }
  EXPECT_THAT(ParsePartitionDecision(*graph_, good + "}"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("lacks its objective or lower bound")));
  // Chips without a gap are a rule.
  for (int32_t& chip : chips) chip = 1;
  EXPECT_THAT(
      ParsePartitionDecision(*graph_, absl::StrCat(AssignmentOf(chips), kRest)),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("chip 0 has no node")));
}

}  // namespace
}  // namespace hone::tuning
