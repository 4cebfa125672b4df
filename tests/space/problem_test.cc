#include "space/problem.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/toy_problems.h"

namespace hone::space {
namespace {

using ::testing::HasSubstr;

TEST(SequentialProblem, MeasuresWhereTheStepsLead) {
  const auto problem = testing::DelayedReward();
  EXPECT_EQ(problem->Measure({})->cost, 10);
  const Measurement measurement = *problem->Measure({{1, 1, 1, 1, 1}});
  EXPECT_EQ(measurement.outcome, Outcome::kOk);
  EXPECT_EQ(measurement.cost, 2);
}

TEST(SequentialProblem, TooManyStepsAreInvalid) {
  const auto problem = testing::DelayedReward();
  const Candidate longest{std::vector<int32_t>(8, 1)};
  EXPECT_EQ(problem->Measure(longest)->outcome, Outcome::kOk);
  const Candidate longer{std::vector<int32_t>(9, 1)};
  const Measurement measurement = *problem->Measure(longer);
  EXPECT_EQ(measurement.outcome, Outcome::kInvalid);
  EXPECT_THAT(measurement.message, HasSubstr("max_steps"));
}

TEST(SequentialProblem, AFailedStepIsInvalidAndSaysWhy) {
  const auto problem = testing::DelayedReward();
  const Measurement measurement = *problem->Measure({{1, 17}});
  EXPECT_EQ(measurement.outcome, Outcome::kInvalid);
  EXPECT_THAT(measurement.message, HasSubstr("17"));
}

TEST(Problem, IsOfExactlyOneKind) {
  const auto sequential = testing::NumberRewriting();
  EXPECT_EQ(sequential->sequential(), sequential.get());
  EXPECT_EQ(sequential->assignment(), nullptr);
  const auto assignment = testing::CappedSum();
  EXPECT_EQ(assignment->assignment(), assignment.get());
  EXPECT_EQ(assignment->sequential(), nullptr);
}

TEST(Candidate, EqualsByChoices) {
  EXPECT_EQ((Candidate{{1, 2}}), (Candidate{{1, 2}}));
  EXPECT_NE((Candidate{{1, 2}}), (Candidate{{2, 1}}));
}

}  // namespace
}  // namespace hone::space
