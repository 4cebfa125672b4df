#include "learning/assignments/value_view.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/toy_problems.h"

namespace hone::learning {
namespace {

// Three variables of two values; 0 and 1 feed 2.
testing::TableProblem Chain() {
  testing::TableProblem::Spec spec;
  spec.domains = {2, 2, 2};
  spec.edges = {{0, 2}, {1, 2}};
  spec.default_values = {0, 0, 0};
  return testing::TableProblem(std::move(spec));
}

TEST(ValueView, TellsHowAValueStandsInTheAssignment) {
  const testing::TableProblem problem = Chain();
  const ValueView view(problem);
  EXPECT_EQ(view.score_count(), 6);
  EXPECT_EQ(view.first_score(2), 4);
  std::vector<float> features;
  for (size_t g = 0; g < problem.groups().size(); ++g) {
    const std::vector<float> of = view.Features(g, {0, 1, 1});
    features.insert(features.end(), of.begin(), of.end());
  }
  ASSERT_EQ(features.size(), 6 * kValueFeatures);
  const auto first = [&](size_t score, size_t feature) {
    return features[score * kValueFeatures + feature];
  };
  // Variable 2, values 0 and 1: its own; producers; consumers.
  EXPECT_EQ(first(4, 0), 0);
  EXPECT_EQ(first(5, 0), 1);
  // Edges of a table problem are between neighbors in the observation.
  EXPECT_FLOAT_EQ(first(4, 1) + first(5, 1), 1);
  EXPECT_EQ(first(4, 2) + first(5, 2), 0);
  // Variable 0 has a consumer with value 1 and no producer.
  EXPECT_EQ(first(1, 2), 1);
  EXPECT_EQ(first(0, 1) + first(1, 1), 0);
}

}  // namespace
}  // namespace hone::learning
