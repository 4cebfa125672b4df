// Searches by moves that are asked to end between two trials.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "optimizers/registry.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::optimizers {
namespace {

class StopTest : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Optimizers, StopTest,
                         ::testing::Values("annealing", "greedy"),
                         [](const auto& each) {
                           return std::string(each.param);
                         });

// A move of the problem changes one variable, or exchanges two.
TEST_P(StopTest, APlanEndsAfterItsFirstMove) {
  const auto problem = testing::LoadBalance(200, 3);
  const space::Candidate start = problem->DefaultCandidate();
  const auto optimizer =
      CreateOptimizer(GetParam(), *problem, {.stop = [] { return true; }});
  HONE_ASSERT_OK(optimizer);
  (*optimizer)->Observe({0, start, *problem->Measure(start)});
  const std::vector<space::Candidate> next = (*optimizer)->Suggest(1);
  ASSERT_EQ(next.size(), 1u);
  int changed = 0;
  for (size_t v = 0; v < start.choices.size(); ++v) {
    changed += next[0].choices[v] == start.choices[v] ? 0 : 1;
  }
  EXPECT_LE(changed, 2);
}

}  // namespace
}  // namespace hone::optimizers
