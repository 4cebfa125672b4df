#include "tuning/best_parts.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/toy_problems.h"

namespace hone::tuning {
namespace {

using ::testing::ElementsAre;

// A part of two variables and one of one.
class TwoParts final : public space::SeparableProblem {
 public:
  absl::string_view unit() const override { return "points"; }
  size_t part_count() const override { return 2; }
  const space::AssignmentProblem& part(size_t i) const override {
    return i == 0 ? first_ : second_;
  }
  absl::Span<const space::VariableGroup> groups() const override {
    return groups_;
  }
  double reference_cost() const override { return 1; }
  space::Candidate DefaultCandidate() const override { return {{0, 0, 0}}; }
  absl::StatusOr<std::vector<space::Measurement>> MeasureBatch(
      absl::Span<const space::Candidate> candidates) const override {
    return std::vector<space::Measurement>(candidates.size());
  }

 private:
  static testing::TableProblem::Spec Free(size_t variables) {
    testing::TableProblem::Spec spec;
    spec.domains.assign(variables, 4);
    return spec;
  }

  const testing::TableProblem first_{Free(2)};
  const testing::TableProblem second_{Free(1)};
  const std::vector<space::VariableGroup> groups_ = {
      {.name = "all", .first = 0, .count = 3, .domain = 4}};
};

space::Trial TrialOf(std::vector<int32_t> choices,
                     std::vector<double> samples) {
  space::Trial trial;
  trial.candidate.choices = std::move(choices);
  trial.measurement.samples = std::move(samples);
  return trial;
}

TEST(BestParts, AreOfDifferentTrials) {
  const TwoParts problem;
  BestParts best(&problem);
  EXPECT_EQ(best.Compose(), std::nullopt);
  best.Note(TrialOf({0, 0, 0}, {5, 5}));
  best.Note(TrialOf({1, 2, 3}, {4, 6}));
  best.Note(TrialOf({2, 2, 2}, {4, 3}));
  ASSERT_TRUE(best.Compose());
  // Of equal ones the first.
  EXPECT_THAT(best.Compose()->choices, ElementsAre(1, 2, 2));
}

TEST(BestParts, LeaveOutWhatIsInvalid) {
  const TwoParts problem;
  BestParts best(&problem);
  best.Note(TrialOf({1, 1, 1}, {-100, 3}));
  EXPECT_EQ(best.Compose(), std::nullopt);
  best.Note(TrialOf({2, 2, 2}, {7, -1}));
  ASSERT_TRUE(best.Compose());
  EXPECT_THAT(best.Compose()->choices, ElementsAre(2, 2, 1));
}

TEST(BestParts, NeedAMeasurementOfEachPart) {
  const TwoParts problem;
  BestParts best(&problem);
  best.Note(TrialOf({1, 1, 1}, {}));
  best.Note(TrialOf({1, 1, 1}, {1}));
  EXPECT_EQ(best.Compose(), std::nullopt);
}

TEST(BestParts, OtherProblemsHaveNone) {
  BestParts best;
  best.Note(TrialOf({1}, {1}));
  EXPECT_EQ(best.Compose(), std::nullopt);
}

}  // namespace
}  // namespace hone::tuning
