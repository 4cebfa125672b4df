#include "learning/assignments/sample.h"

#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "space/measurement.h"
#include "tests/support/toy_problems.h"

namespace hone::learning {
namespace {

using ::testing::ElementsAre;

std::vector<int32_t> Order(const space::AssignmentProblem& problem) {
  std::vector<int32_t> order(static_cast<size_t>(problem.variable_count()));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Two variables of two and three values.
testing::TableProblem Free() {
  testing::TableProblem::Spec spec;
  spec.domains = {2, 3};
  spec.default_values = {0, 0};
  return testing::TableProblem(std::move(spec));
}

TEST(SampleAssignment, DrawsInProportionToTheExponentials) {
  const testing::TableProblem problem = Free();
  const ValueView view(problem);
  const auto domains = problem.MakeDomains();
  const std::vector<float> scores = {0, std::log(3.F), 0, 0, std::log(2.F)};
  Rng rng(1);
  std::array<int, 2> first = {};
  std::array<int, 3> second = {};
  for (int i = 0; i < 4000; ++i) {
    const auto sample =
        SampleAssignment(view, scores, Order(problem), *domains, rng);
    ASSERT_TRUE(sample);
    ++first[static_cast<size_t>(sample->values[0])];
    ++second[static_cast<size_t>(sample->values[1])];
    EXPECT_FLOAT_EQ(sample->log_probability[0],
                    std::log(sample->values[0] == 1 ? 0.75F : 0.25F));
    EXPECT_EQ(sample->choice[0], 0b11);
    EXPECT_EQ(sample->choice[1], 0b111);
  }
  EXPECT_NEAR(first[1], 3000, 120);
  EXPECT_NEAR(second[2], 2000, 140);
}

TEST(SampleAssignment, SatisfiesConstraintsAndTellsWhatWasForced) {
  const auto toy = testing::TightOrder();
  const space::AssignmentProblem& problem = *toy->assignment();
  const ValueView view(problem);
  const auto domains = problem.MakeDomains();
  const std::vector<float> scores(view.score_count());
  Rng rng(2);
  for (int i = 0; i < 50; ++i) {
    const auto sample =
        SampleAssignment(view, scores, Order(problem), *domains, rng);
    ASSERT_TRUE(sample);
    EXPECT_EQ(problem.Measure({sample->values})->violation, 0);
    for (size_t v = 0; v < sample->values.size(); ++v) {
      if (sample->choice[v] == 0) {
        EXPECT_EQ(sample->log_probability[v], 0);
      } else {
        EXPECT_NE(sample->choice[v] >> sample->values[v] & 1, 0);
      }
    }
  }
}

TEST(DecodeAssignment, TakesTheLikeliest) {
  const testing::TableProblem problem = Free();
  const ValueView view(problem);
  const auto domains = problem.MakeDomains();
  const auto decoded = DecodeAssignment(view, std::vector<float>{1, 0, 2, 5, 5},
                                        Order(problem), *domains);
  ASSERT_TRUE(decoded);
  EXPECT_THAT(decoded->values, ElementsAre(0, 1));
}

TEST(KeepForChanges, GivesAboutSoManyChanges) {
  const auto toy = testing::ManyVariables();
  const space::AssignmentProblem& problem = *toy->assignment();
  const ValueView view(problem);
  const auto domains = problem.MakeDomains();
  const std::vector<int32_t> values = problem.DefaultCandidate().choices;
  Rng rng(3);
  for (const double wanted : {1.5, 8.0, 400.0}) {
    std::vector<float> scores(view.score_count());
    PreferValues(view, values, KeepForChanges(problem, wanted), scores);
    double changes = 0;
    for (int i = 0; i < 40; ++i) {
      const auto sample =
          SampleAssignment(view, scores, Order(problem), *domains, rng);
      ASSERT_TRUE(sample);
      for (size_t v = 0; v < values.size(); ++v) {
        changes += sample->values[v] != values[v] ? 1 : 0;
      }
    }
    EXPECT_NEAR(changes / 40, wanted, 0.3 * wanted);
  }
}

}  // namespace
}  // namespace hone::learning
