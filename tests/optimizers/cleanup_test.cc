#include "optimizers/cleanup.h"

#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/toy_problems.h"

namespace hone::optimizers {
namespace {

using ::hone::testing::IntegerProblem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int32_t kAddOne = 0;
constexpr int32_t kDouble = 1;
constexpr int32_t kStay = 2;
constexpr int32_t kNegate = 3;

IntegerProblem Reach(int64_t goal) {
  return IntegerProblem(
      {.initial = 1,
       .actions = {{"add one", [](int64_t x) { return x + 1; }},
                   {"double", [](int64_t x) { return 2 * x; }},
                   {"stay", [](int64_t x) { return x; }},
                   {"negate", [](int64_t x) { return -x; }}},
       .cost = [goal](int64_t x) -> double {
         return static_cast<double>(std::abs(x - goal));
       },
       .max_steps = 16,
       .default_actions = {}});
}

// What is left of `actions` after the clean-up.
std::vector<int32_t> Clean(const IntegerProblem& problem,
                           std::vector<int32_t> actions) {
  const space::Candidate candidate{std::move(actions)};
  space::Trial best{0, candidate, *problem.Measure(candidate)};
  Cleanup cleanup(problem, best);
  while (cleanup.next()) {
    const space::Candidate next = *cleanup.next();
    const space::Measurement measurement = *problem.Measure(next);
    cleanup.Observe(measurement);
    if (space::EffectiveCost(measurement) <=
        space::EffectiveCost(best.measurement)) {
      best = {0, next, measurement};
    }
  }
  return best.candidate.choices;
}

TEST(Cleanup, DropsWhatChangesNothing) {
  EXPECT_THAT(Clean(Reach(4),
                    {kStay, kDouble, kNegate, kNegate, kStay, kDouble, kStay}),
              ElementsAre(kDouble, kDouble));
}

TEST(Cleanup, DropsWhatTheCostDoesNotNeed) {
  EXPECT_THAT(Clean(Reach(1), {kDouble, kAddOne}), IsEmpty());
}

TEST(Cleanup, KeepsWhatMatters) {
  EXPECT_THAT(Clean(Reach(5), {kDouble, kDouble, kAddOne}),
              ElementsAre(kDouble, kDouble, kAddOne));
}

}  // namespace
}  // namespace hone::optimizers
