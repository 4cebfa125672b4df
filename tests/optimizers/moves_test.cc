#include "optimizers/moves.h"

#include <cstdint>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/toy_problems.h"

namespace hone::optimizers {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Counts up and down between 0 and 5.
testing::IntegerProblem Counter(int32_t max_steps) {
  testing::IntegerProblem::Spec spec;
  spec.actions = {{"up", [](int64_t n) { return n < 5 ? n + 1 : n; }},
                  {"down", [](int64_t n) { return n > 0 ? n - 1 : n; }},
                  {"stay", [](int64_t n) { return n; }}};
  spec.cost = [](int64_t n) { return static_cast<double>(n); };
  spec.max_steps = max_steps;
  return testing::IntegerProblem(std::move(spec));
}

TEST(Follow, LeavesOutWhatLeadsNowhere) {
  const testing::IntegerProblem problem = Counter(16);
  const std::vector<int32_t> actions = {2, 1, 0, 0, 2, 1, 0, 0};
  const Position position = Follow(problem, actions);
  EXPECT_THAT(position.actions, ElementsAre(0, 0, 0));
  EXPECT_EQ(problem.Cost(position.state), 3);
}

TEST(Follow, ReturnsToTheStart) {
  const testing::IntegerProblem problem = Counter(16);
  const Position position = Follow(problem, {0, 0, 1, 1});
  EXPECT_THAT(position.actions, IsEmpty());
  EXPECT_EQ(position.state->key(), problem.InitialState()->key());
}

TEST(Follow, HasNoStateWhereAStepFails) {
  const testing::IntegerProblem problem = Counter(16);
  EXPECT_EQ(Follow(problem, {0, 7}).state, nullptr);
}

TEST(EditSequence, ChangesLengthByAtMostOneWithinTheLimit) {
  const testing::IntegerProblem problem = Counter(4);
  Rng rng(1);
  std::set<int> differences;
  for (int i = 0; i < 1000; ++i) {
    const std::vector<int32_t> edited = EditSequence(problem, {0, 1, 2}, rng);
    differences.insert(static_cast<int>(edited.size()) - 3);
    EXPECT_LE(EditSequence(problem, {0, 1, 2, 0}, rng).size(), 4);
  }
  EXPECT_THAT(differences, ElementsAre(-1, 0, 1));
  EXPECT_EQ(EditSequence(problem, {}, rng).size(), 1);
}

TEST(EditAssignment, SetsOneOrExchangesTwoFeasibly) {
  const auto problem = testing::CappedSum();
  const space::AssignmentProblem& assignment = *problem->assignment();
  // The cap is reached: a value can be raised by an exchange only.
  const std::vector<int32_t> full = {3, 3, 3, 2, 0, 0, 0, 0};
  Rng rng(2);
  std::set<size_t> changed;
  for (int i = 0; i < 500; ++i) {
    const std::vector<int32_t> edited = EditAssignment(assignment, full, rng);
    EXPECT_TRUE(assignment.IsFeasiblePrefix(edited));
    int differences = 0;
    int raised = 0;
    for (size_t v = 0; v < full.size(); ++v) {
      if (edited[v] == full[v]) continue;
      ++differences;
      if (edited[v] > full[v]) ++raised;
      changed.insert(v);
    }
    EXPECT_EQ(differences, raised + 1);
    EXPECT_LE(raised, 1);
  }
  EXPECT_EQ(changed.size(), full.size());
}

}  // namespace
}  // namespace hone::optimizers
