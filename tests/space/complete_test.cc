#include "space/complete.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/toy_problems.h"

namespace hone::space {
namespace {

using ::hone::testing::TableProblem;

std::vector<int32_t> InOrder(int32_t count) {
  std::vector<int32_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Values that differ from each other; forward checking misses that there are
// too few of them.
TableProblem AllDifferent(int32_t variables, int32_t values) {
  TableProblem::Spec spec;
  spec.domains.assign(static_cast<size_t>(variables), values);
  spec.default_values = InOrder(variables);
  spec.cost = [](absl::Span<const int32_t>) { return 1; };
  spec.propagate = [](std::vector<uint64_t>& domains) {
    for (const uint64_t only : domains) {
      if (!std::has_single_bit(only)) continue;
      if (std::count(domains.begin(), domains.end(), only) > 1) return false;
      for (uint64_t& left : domains) {
        if (left != only) left &= ~only;
        if (left == 0) return false;
      }
    }
    return true;
  };
  return TableProblem(std::move(spec));
}

TEST(FreeDomains, UndoesToTheMark) {
  const auto domains = MakeFreeDomains({3, 64, 1});
  EXPECT_EQ(domains->Get(0), 0b111u);
  EXPECT_EQ(domains->Get(1), ~uint64_t{0});
  EXPECT_TRUE(domains->Narrow(0, 0b110));
  const int32_t mark = domains->Mark();
  EXPECT_TRUE(domains->Narrow(0, 0b011));
  EXPECT_EQ(domains->Get(0), 0b010u);
  EXPECT_FALSE(domains->Narrow(2, 0b10));
  domains->Undo(mark);
  EXPECT_EQ(domains->Get(0), 0b110u);
  EXPECT_EQ(domains->Get(2), 0b1u);
}

// One variable of one value, which the constraints may rule out from the start.
class SingleValue final : public Domains {
 public:
  explicit SingleValue(bool is_possible) : is_possible_(is_possible) {}
  int32_t variable_count() const override { return 1; }
  uint64_t Get(int32_t) const override { return 1; }
  bool Narrow(int32_t, uint64_t values) override {
    return is_possible_ && (values & 1) != 0;
  }
  int32_t Mark() override { return 0; }
  void Undo(int32_t) override {}

 private:
  const bool is_possible_;
};

TEST(Complete, FailsWithoutAnythingToDecide) {
  const auto choose = [](int32_t, uint64_t) {
    ADD_FAILURE() << "asked";
    return 0;
  };
  SingleValue impossible(false);
  EXPECT_EQ(Complete(impossible, InOrder(1), choose), std::nullopt);
  SingleValue possible(true);
  EXPECT_EQ(Complete(possible, InOrder(1), choose), std::vector<int32_t>(1));
}

// The default of Draw.
TEST(Draw, DrawsEachAssignmentAndLeavesTheDomains) {
  const TableProblem problem = AllDifferent(3, 4);
  const auto domains = problem.MakeDomains();
  Rng rng(1);
  std::set<std::vector<int32_t>> drawn;
  for (int i = 0; i < 1000; ++i) {
    const auto values = problem.Draw(*domains, rng, nullptr);
    for (int32_t v = 0; v < 3; ++v) ASSERT_EQ(domains->Get(v), 0b1111u);
    ASSERT_TRUE(values.has_value());
    ASSERT_EQ(std::set<int32_t>(values->begin(), values->end()).size(), 3u);
    drawn.insert(*values);
  }
  EXPECT_EQ(drawn.size(), 24u);
  // Five values for six variables.
  const TableProblem none = AllDifferent(6, 5);
  EXPECT_EQ(none.Draw(*none.MakeDomains(), rng, nullptr), std::nullopt);
}

TEST(Complete, AsksOnlyWhereThereIsAChoice) {
  const auto domains = MakeFreeDomains({2, 1, 3});
  std::vector<int32_t> asked;
  const auto values =
      Complete(*domains, InOrder(3), [&](int32_t variable, uint64_t left) {
        asked.push_back(variable);
        return std::bit_width(left) - 1;
      });
  EXPECT_EQ(values, (std::vector<int32_t>{1, 0, 2}));
  EXPECT_EQ(asked, (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(domains->Get(2), 0b111u);
}

TEST(Complete, FindsEveryAssignmentAndNoOther) {
  const TableProblem problem = AllDifferent(4, 4);
  const auto domains = problem.MakeDomains();
  Rng rng(1);
  std::set<std::vector<int32_t>> found;
  for (int i = 0; i < 1000; ++i) {
    const auto values =
        Complete(*domains, InOrder(4),
                 [&](int32_t, uint64_t left) { return DrawValue(left, rng); });
    ASSERT_TRUE(values.has_value());
    found.insert(*values);
  }
  EXPECT_EQ(found.size(), 24u);  // 4!
  for (const std::vector<int32_t>& values : found) {
    EXPECT_EQ(std::set<int32_t>(values.begin(), values.end()).size(), 4u);
  }
}

TEST(Complete, GivesUpWhereThereIsNone) {
  const TableProblem problem = AllDifferent(5, 4);
  const auto domains = problem.MakeDomains();
  Rng rng(1);
  EXPECT_FALSE(Complete(*domains, InOrder(5), [&](int32_t, uint64_t left) {
    return DrawValue(left, rng);
  }));
  EXPECT_EQ(domains->Get(4), AllValues(4));
}

TEST(Repair, KeepsWhatSatisfiesTheConstraints) {
  const TableProblem problem = AllDifferent(4, 4);
  const auto domains = problem.MakeDomains();
  Rng rng(3);
  const std::vector<int32_t> valid = {2, 0, 3, 1};
  EXPECT_EQ(Repair(*domains, InOrder(4), valid, rng), valid);
  const auto repaired =
      Repair(*domains, InOrder(4), std::vector<int32_t>{2, 2, 3, 1}, rng);
  ASSERT_TRUE(repaired.has_value());
  EXPECT_EQ(repaired->front(), 2);
  EXPECT_EQ(std::set<int32_t>(repaired->begin(), repaired->end()).size(), 4u);
  // What comes first in the order is kept.
  const auto other = Repair(*domains, std::vector<int32_t>{3, 2, 1, 0},
                            std::vector<int32_t>{2, 2, 3, 1}, rng);
  EXPECT_EQ(other, (std::vector<int32_t>{0, 2, 3, 1}));
}

TEST(DrawValue, DrawsEachMemberAlike) {
  Rng rng(5);
  std::vector<int> counts(64);
  const uint64_t set = (uint64_t{1} << 63) | 0b101;
  for (int i = 0; i < 3000; ++i) {
    ++counts[static_cast<size_t>(DrawValue(set, rng))];
  }
  EXPECT_EQ(counts[0] + counts[2] + counts[63], 3000);
  for (const size_t value : {size_t{0}, size_t{2}, size_t{63}}) {
    EXPECT_NEAR(counts[value], 1000, 150);
  }
}

}  // namespace
}  // namespace hone::space
