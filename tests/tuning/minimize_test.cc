#include "tuning/minimize.h"

#include <cstdlib>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/toy_problems.h"

namespace hone::tuning {
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

TEST(Minimize, DropsWhatChangesNothing) {
  const IntegerProblem problem = Reach(4);
  EXPECT_THAT(Minimize(problem, {{kStay, kDouble, kNegate, kNegate, kStay,
                                  kDouble, kStay}})
                  ->choices,
              ElementsAre(kDouble, kDouble));
}

TEST(Minimize, DropsWhatTheCostDoesNotNeed) {
  const IntegerProblem problem = Reach(1);
  EXPECT_THAT(Minimize(problem, {{kDouble, kAddOne}})->choices, IsEmpty());
}

TEST(Minimize, KeepsWhatMatters) {
  const IntegerProblem problem = Reach(5);
  EXPECT_THAT(Minimize(problem, {{kDouble, kDouble, kAddOne}})->choices,
              ElementsAre(kDouble, kDouble, kAddOne));
}

}  // namespace
}  // namespace hone::tuning
