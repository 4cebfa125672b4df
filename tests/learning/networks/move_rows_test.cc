#include "learning/networks/move_rows.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <torch/torch.h>

#include "tests/support/ring_problem.h"

namespace hone::learning {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Lt;
using ::testing::SizeIs;

std::vector<int64_t> ListOf(const torch::Tensor& tensor) {
  const torch::Tensor row = tensor.contiguous();
  return {row.data_ptr<int64_t>(), row.data_ptr<int64_t>() + row.numel()};
}

MoveRows RowsOf(const ValueView& view,
                const std::vector<DescribedMove>& moves) {
  std::vector<const DescribedMove*> pointers;
  for (const DescribedMove& move : moves) pointers.push_back(&move);
  return MakeMoveRows(view, pointers);
}

TEST(MoveRows, ListTheChangesOfEachMove) {
  const testing::RingProblem problem({.variables = 5, .values = 4});
  const ValueView view(problem);
  const MoveRows rows = RowsOf(
      view,
      {{{{2, 3}}, {1, 2, 3}}, {{}, {4, 5, 6}}, {{{4, 0}, {0, 1}}, {7, 8, 9}}});
  ASSERT_THAT(rows.groups, SizeIs(1));
  EXPECT_THAT(ListOf(rows.groups[0].moves), ElementsAre(0, 2, 2));
  EXPECT_THAT(ListOf(rows.groups[0].nodes), ElementsAre(2, 4, 0));
  EXPECT_THAT(ListOf(rows.groups[0].values), ElementsAre(3, 0, 1));
  EXPECT_EQ(rows.value_features[0].sizes(), (std::vector<int64_t>{4, 0}));
  EXPECT_TRUE(torch::equal(
      rows.features,
      torch::tensor({{1.F, 2.F, 3.F}, {4.F, 5.F, 6.F}, {7.F, 8.F, 9.F}})));
  // No move divides by 0.
  EXPECT_TRUE(torch::equal(rows.counts, torch::tensor({{1.F}, {1.F}, {2.F}})));
}

TEST(MoveRows, SomeOfManyChangesStandForAll) {
  const testing::RingProblem problem({.variables = 500, .values = 2});
  const ValueView view(problem);
  for (const int32_t count : {1, 31, 32, 33, 63, 64, 65, 500}) {
    SCOPED_TRACE(count);
    DescribedMove move = {{}, {0, 0, 0}};
    for (int32_t v = 0; v < count; ++v) move.changes.push_back({v, 1});
    const MoveRows rows = RowsOf(view, {move});
    const std::vector<int64_t> nodes = ListOf(rows.groups[0].nodes);
    EXPECT_LE(nodes.size(), 32u);
    EXPECT_GE(nodes.size(), count < 32 ? static_cast<size_t>(count) : 16u);
    EXPECT_EQ(rows.counts.item<float>(), static_cast<float>(nodes.size()));
    // From all over the move.
    EXPECT_THAT(nodes, Each(Lt(count)));
    EXPECT_EQ(nodes.front(), 0);
    EXPECT_GE(nodes.back(), count - count / 16 - 1);
  }
}

TEST(MoveRows, MayBeNone) {
  const testing::RingProblem problem({});
  const ValueView view(problem);
  const MoveRows rows = RowsOf(view, {});
  EXPECT_EQ(rows.features.size(0), 0);
  EXPECT_EQ(rows.groups[0].moves.size(0), 0);
}

}  // namespace
}  // namespace hone::learning
