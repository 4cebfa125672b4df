#include "tuning/tasks/step_proposals.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "gtest/gtest.h"

#include "tests/tuning/random_steps.h"
#include "tuning/tasks/step_problem.h"

namespace hone::tuning {
namespace {

// Every move from a known method changes what has a meaning, once, and fuses
// what is legal.
TEST(StepProposals, MovesChangeWhatCounts) {
  int64_t fused = 0;
  int64_t split = 0;
  int64_t overtaking = 0;
  ForEachStepProblem(4, 40, 30, [&](const StepProblem& problem, Rng& rng) {
    const StepSpace& space = problem.space();
    const std::vector<int32_t> values = problem.DefaultCandidate().choices;
    const graphs::Fusion before = problem.Plan(values).fused;
    const auto state = problem.MakeLocal({values});
    std::vector<space::Change> changes;
    for (int i = 0; i < 100; ++i) {
      state->Propose(rng, changes);
      std::set<int32_t> variables;
      std::vector<int32_t> after = values;
      for (const space::Change& change : changes) {
        EXPECT_TRUE(variables.insert(change.variable).second);
        EXPECT_NE(after[static_cast<size_t>(change.variable)], change.value);
        after[static_cast<size_t>(change.variable)] = change.value;
      }
      ASSERT_TRUE(problem.IsInDomain(after));
      const graphs::Fusion now = problem.Plan(after).fused;
      for (const space::Change& change : changes) {
        if (change.variable == space.order_variable()) continue;
        const auto node = space.node_of(space.UnitOf(change.variable));
        if (space.first_fused() < 0 || change.variable < space.first_fused()) {
          EXPECT_EQ(now[node], 0);
          overtaking += change.variable >= space.first_priority() &&
                        space.first_priority() >= 0 && changes.size() == 1;
        } else if (change.value == 1) {
          EXPECT_EQ(before[node], 0);
          EXPECT_EQ(now[node], 1);
          ++fused;
        } else {
          EXPECT_EQ(before[node], 1);
          EXPECT_EQ(now[node], 0);
          ++split;
        }
      }
    }
  });
  EXPECT_GT(fused, 100);
  EXPECT_GT(split, 100);
  EXPECT_GT(overtaking, 100);
}

}  // namespace
}  // namespace hone::tuning
