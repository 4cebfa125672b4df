#include "space/episode.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::space {
namespace {

using ::hone::testing::IntegerProblem;
using ::hone::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int32_t kHalve = 0;
constexpr int32_t kDecrement = 1;
constexpr int32_t kStop = 2;

// 12 → …; halving an odd number, and decrementing 0, change nothing.
const IntegerProblem& Halving() {
  static const auto& problem = *new IntegerProblem(
      {.initial = 12,
       .actions = {{"halve", [](int64_t n) { return n % 2 == 0 ? n / 2 : n; }},
                   {"decrement", [](int64_t n) { return n > 0 ? n - 1 : n; }}},
       .cost = [](int64_t n) { return static_cast<double>(n); },
       .max_steps = 16,
       .default_actions = {}});
  return problem;
}

TEST(Episode, RewardsTheDropOfTheCostByItsLogarithm) {
  Episode episode(Halving(), 10);
  EXPECT_EQ(episode.score(), 12);
  HONE_ASSERT_OK_AND_ASSIGN(EpisodeStep step, episode.Step(kHalve));
  EXPECT_DOUBLE_EQ(step.reward, std::log(12.0 / 6));
  EXPECT_TRUE(step.changed);
  EXPECT_FALSE(step.terminated || step.truncated);
  HONE_ASSERT_OK_AND_ASSIGN(step, episode.Step(kDecrement));
  EXPECT_DOUBLE_EQ(step.reward, std::log(6.0 / 5));
  EXPECT_EQ(episode.score(), 5);
  EXPECT_EQ(episode.remaining_steps(), 8);
}

TEST(Episode, RewardsNothingBeforeAMeasurementIfCostsAreNotFree) {
  const IntegerProblem problem(
      {.initial = 8,
       .actions = {{"halve", [](int64_t n) { return n / 2; }}},
       .cost = [](int64_t n) { return static_cast<double>(n); },
       .default_actions = {},
       .costs_are_free = false});
  Episode episode(problem, 10);
  HONE_ASSERT_OK_AND_ASSIGN(const EpisodeStep step, episode.Step(0));
  EXPECT_EQ(step.reward, 0);
  EXPECT_TRUE(step.changed);
  EXPECT_EQ(problem.measurements(), 0);
}

TEST(Episode, StopTerminatesAndLeavesTheState) {
  Episode episode(Halving(), 1);
  HONE_ASSERT_OK_AND_ASSIGN(const EpisodeStep step, episode.Step(kStop));
  EXPECT_TRUE(step.terminated);
  EXPECT_FALSE(step.truncated);
  EXPECT_EQ(step.reward, 0);
  EXPECT_EQ(episode.score(), 12);
  EXPECT_TRUE(episode.ended());
  EXPECT_THAT(
      episode.Step(kHalve),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("stop")));
}

TEST(Episode, TheLimitOfStepsTruncates) {
  Episode episode(Halving(), 2);
  HONE_EXPECT_OK(episode.Step(kHalve));
  HONE_ASSERT_OK_AND_ASSIGN(const EpisodeStep step, episode.Step(kHalve));
  EXPECT_TRUE(step.truncated);
  EXPECT_FALSE(step.terminated);
  EXPECT_TRUE(episode.ended());
  EXPECT_THAT(
      episode.Step(kStop),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("limit")));
}

TEST(Episode, MasksWhatItSawChangeNothingUntilTheStateChanges) {
  Episode episode(Halving(), 10);
  EXPECT_THAT(episode.Mask(), ElementsAre(true, true, true));
  HONE_EXPECT_OK(episode.Step(kHalve));
  HONE_EXPECT_OK(episode.Step(kHalve));  // 3
  HONE_ASSERT_OK_AND_ASSIGN(EpisodeStep step, episode.Step(kHalve));
  EXPECT_EQ(step.reward, 0);
  EXPECT_THAT(episode.Mask(), ElementsAre(false, true, true));
  // A masked action is allowed, and costs a step.
  HONE_ASSERT_OK_AND_ASSIGN(step, episode.Step(kHalve));
  EXPECT_EQ(episode.remaining_steps(), 6);
  HONE_EXPECT_OK(episode.Step(kDecrement));
  EXPECT_THAT(episode.Mask(), ElementsAre(true, true, true));
}

TEST(Episode, AFailingActionIsReportedAndLeavesTheState) {
  const IntegerProblem problem(
      {.initial = 8,
       .actions = {{"halve", [](int64_t n) { return n / 2; }},
                   {"fail", [](int64_t n) { return n; }}},
       .cost = [](int64_t n) { return static_cast<double>(n); },
       .default_actions = {},
       .fails = [](int64_t, int32_t action) { return action == 1; }});
  Episode episode(problem, 10);
  const StatePtr before = episode.state();
  HONE_ASSERT_OK_AND_ASSIGN(EpisodeStep step, episode.Step(1));
  EXPECT_THAT(step.error,
              StatusIs(absl::StatusCode::kInternal, HasSubstr("action 1")));
  EXPECT_EQ(step.reward, 0);
  EXPECT_FALSE(step.changed);
  EXPECT_EQ(episode.state(), before);
  EXPECT_EQ(episode.remaining_steps(), 9);
  EXPECT_FALSE(episode.Mask()[1]);
  // The episode continues.
  HONE_ASSERT_OK(episode.FindNoOps());
  HONE_ASSERT_OK_AND_ASSIGN(step, episode.Step(0));
  HONE_EXPECT_OK(step.error);
  EXPECT_DOUBLE_EQ(step.reward, std::log(2.0));
}

TEST(Episode, TheFindNoOpsIsExactAndTakesNoStep) {
  Episode episode(Halving(), 10);
  HONE_EXPECT_OK(episode.FindNoOps());
  EXPECT_THAT(episode.Mask(), ElementsAre(true, true, true));
  HONE_EXPECT_OK(episode.Step(kHalve));
  HONE_EXPECT_OK(episode.Step(kHalve));
  HONE_EXPECT_OK(episode.FindNoOps());
  EXPECT_THAT(episode.Mask(), ElementsAre(false, true, true));
  EXPECT_EQ(episode.score(), 3);
  EXPECT_EQ(episode.remaining_steps(), 8);
}

TEST(Episode, ACopyGoesOnByItself) {
  Episode episode(Halving(), 10);
  HONE_EXPECT_OK(episode.Step(kHalve));
  Episode fork = episode;
  HONE_EXPECT_OK(fork.Step(kDecrement));
  HONE_EXPECT_OK(fork.Step(kStop));
  EXPECT_EQ(fork.score(), 5);
  EXPECT_EQ(episode.score(), 6);
  EXPECT_EQ(episode.remaining_steps(), 9);
  EXPECT_FALSE(episode.ended());
}

TEST(Episode, ChecksSequencesWithoutTakingThem) {
  const Episode episode(Halving(), 2);
  HONE_EXPECT_OK(episode.Check({kHalve, kStop}));
  EXPECT_THAT(episode.Check({kHalve, 3}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("action 3, expected 0 to 2")));
  EXPECT_THAT(episode.Check({-1}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("-1")));
  EXPECT_THAT(episode.Check({kStop, kHalve}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("before action 1 of 2")));
  EXPECT_THAT(episode.Check({kHalve, kHalve, kHalve}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("before action 2 of 3")));
}

}  // namespace
}  // namespace hone::space
