#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "optimizers/optimizer_text.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::optimizers {
namespace {

using ::hone::testing::FakeClock;
using ::hone::testing::StatusIs;
using ::hone::testing::TableProblem;
using ::testing::HasSubstr;

// Two variables of 16 values. The model prefers the wrong end of the second
// until it has learned how it is shifted.
constexpr int32_t kValues = 16;

double TrueCost(absl::Span<const int32_t> values) {
  return 100.0 + std::abs(values[0] - 5) + 3 * std::abs(values[1] - 11);
}

class Model final : public space::Surrogate {
 public:
  Model(std::vector<std::vector<space::Trial>>* lessons,
        std::vector<std::vector<int32_t>>* judged)
      : lessons_(lessons), judged_(judged), problem_(MakeProblem(-8)) {}

  const space::Problem& problem() const override { return *problem_; }
  void Learn(absl::Span<const space::Trial> trials) override {
    lessons_->emplace_back(trials.begin(), trials.end());
    if (lessons_->size() > 1) *problem_ = *MakeProblem(0);
  }

 private:
  class Shifted final : public space::AssignmentProblem {
   public:
    Shifted(int32_t shift, std::vector<std::vector<int32_t>>* judged)
        : shift_(shift), judged_(judged) {}
    Shifted& operator=(const Shifted& other) {
      shift_ = other.shift_;
      return *this;
    }
    absl::string_view unit() const override { return "points"; }
    space::Candidate DefaultCandidate() const override { return {{0, 0}}; }
    double reference_cost() const override { return 1; }
    absl::Span<const space::VariableGroup> groups() const override {
      return groups_;
    }
    absl::StatusOr<std::vector<space::Measurement>> MeasureBatch(
        absl::Span<const space::Candidate> candidates) const override {
      std::vector<space::Measurement> measurements;
      for (const space::Candidate& candidate : candidates) {
        judged_->push_back(candidate.choices);
        space::Measurement& measurement = measurements.emplace_back();
        measurement.cost =
            TrueCost({candidate.choices[0], candidate.choices[1] - shift_});
      }
      return measurements;
    }

   private:
    std::vector<space::VariableGroup> groups_ = {
        {.name = "x", .first = 0, .count = 2, .domain = kValues}};
    int32_t shift_;
    std::vector<std::vector<int32_t>>* judged_;
  };

  std::unique_ptr<Shifted> MakeProblem(int32_t shift) const {
    return std::make_unique<Shifted>(shift, judged_);
  }

  std::vector<std::vector<space::Trial>>* const lessons_;
  std::vector<std::vector<int32_t>>* const judged_;
  const std::unique_ptr<Shifted> problem_;
};

// Its cost is TrueCost, its model is Model.
class Real : public space::AssignmentProblem {
 public:
  absl::string_view unit() const override { return "points"; }
  space::Candidate DefaultCandidate() const override { return {{0, 0}}; }
  double reference_cost() const override { return 1; }
  absl::Span<const space::VariableGroup> groups() const override {
    return groups_;
  }
  absl::StatusOr<std::vector<space::Measurement>> MeasureBatch(
      absl::Span<const space::Candidate> candidates) const override {
    std::vector<space::Measurement> measurements;
    for (const space::Candidate& candidate : candidates) {
      measurements.emplace_back().cost = TrueCost(candidate.choices);
    }
    return measurements;
  }
  absl::StatusOr<std::unique_ptr<space::Surrogate>> MakeSurrogate()
      const override {
    return std::make_unique<Model>(&lessons, &judged);
  }

  mutable std::vector<std::vector<space::Trial>> lessons;
  // The candidates that the model was asked about.
  mutable std::vector<std::vector<int32_t>> judged;

 private:
  std::vector<space::VariableGroup> groups_ = {
      {.name = "x", .first = 0, .count = 2, .domain = kValues}};
};

std::vector<space::Trial> Search(const space::Problem& problem, int64_t trials,
                                 const OptimizerOptions& options) {
  auto optimizer = CreateOptimizer("xtat", problem, options);
  HONE_EXPECT_OK(optimizer.status());
  std::vector<space::Trial> trace;
  SearchOptions search;
  search.on_trial = [&](const space::Trial& trial) {
    trace.push_back(trial);
    return absl::OkStatus();
  };
  HONE_EXPECT_OK(
      RunSearch(problem, **optimizer, {.trials = trials}, FakeClock(), search));
  return trace;
}

TEST(Xtat, MeasuresWhatTheModelLikesBest) {
  const Real problem;
  const auto trace = Search(problem, 4, {.top_k = 3, .refresh = 0});
  ASSERT_EQ(trace.size(), 4);
  EXPECT_EQ(trace[0].candidate.choices, (std::vector<int32_t>{0, 0}));
  // The model takes (5, 3) for the best, and four more for the next best.
  EXPECT_EQ(trace[1].candidate.choices, (std::vector<int32_t>{5, 3}));
  EXPECT_TRUE(problem.lessons.empty());
}

TEST(Xtat, OfCandidatesThatLookAlikeOneComesBeforeAnySecond) {
  const Real problem;
  const auto trace = Search(problem, 4, {.top_k = 3, .refresh = 0});
  // (4, 3) and (6, 3) look alike.
  EXPECT_EQ(std::abs(trace[2].candidate.choices[0] - 5), 1);
  EXPECT_EQ(std::abs(trace[3].candidate.choices[0] - 5), 2);
}

TEST(Xtat, LearnsFromEachTrialOnce) {
  const Real problem;
  const auto trace = Search(problem, 13, {.top_k = 4});
  ASSERT_EQ(problem.lessons.size(), 4);
  std::vector<space::Candidate> learned;
  for (const auto& lesson : problem.lessons) {
    for (const space::Trial& trial : lesson) {
      learned.push_back(trial.candidate);
    }
  }
  ASSERT_EQ(learned.size(), trace.size());
  for (size_t i = 0; i < trace.size(); ++i) {
    EXPECT_EQ(learned[i], trace[i].candidate);
  }
  // With what it has learned it finds the best.
  EXPECT_EQ(trace[5].candidate.choices, (std::vector<int32_t>{5, 11}));
}

TEST(Xtat, RefreshSaysAfterHowManyBatchesItLearns) {
  const Real problem;
  Search(problem, 1 + 4 * 4, {.top_k = 4, .refresh = 2});
  // After the default, and after batches 2 and 4.
  EXPECT_EQ(problem.lessons.size(), 3);
}

TEST(Xtat, GoesOnFromALogWithoutLearningTwice) {
  const Real problem;
  const auto log = Search(problem, 9, {.top_k = 4});
  problem.lessons.clear();
  auto optimizer = CreateOptimizer("xtat", problem, {.top_k = 4});
  HONE_ASSERT_OK(optimizer.status());
  (*optimizer)->Adopt(log);
  (*optimizer)->Adopt(log);
  ASSERT_EQ(problem.lessons.size(), 2);
  EXPECT_EQ(problem.lessons[0].size(), log.size());
  EXPECT_TRUE(problem.lessons[1].empty());
  for (const space::Candidate& next : (*optimizer)->Suggest(4)) {
    for (const space::Trial& trial : log) EXPECT_NE(next, trial.candidate);
  }
}

TEST(Xtat, AnotherProposerMayBeNamed) {
  const Real problem;
  const auto trace =
      Search(problem, 40, {.proposer = "random", .predictions = 64});
  EXPECT_EQ(trace.size(), 40);
  EXPECT_THAT(
      CreateOptimizer("xtat", problem, {.proposer = "simplex"}).status(),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("simplex")));
  EXPECT_THAT(CreateOptimizer("xtat", problem, {.proposer = "xtat"}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("expected another optimizer")));
}

// Few candidates are judged all, of many as many as is said.
TEST(Xtat, JudgesSmallSpacesWholeAndOthersInPart) {
  const Real problem;
  Search(problem, 2, {.top_k = 1, .predictions = 10});
  const std::set<std::vector<int32_t>> all(problem.judged.begin(),
                                           problem.judged.end());
  EXPECT_EQ(all.size(), kValues * kValues);
  problem.judged.clear();
  Search(problem, 3, {.top_k = 1, .proposer = "random", .predictions = 10});
  // A batch is planned after each trial.
  EXPECT_EQ(problem.judged.size(), 3 * 10);
}

// A model that fails is no space that is exhausted.
TEST(Xtat, ErrorsOfTheModelEndTheSearch) {
  class Broken final : public Real {
   public:
    absl::StatusOr<std::vector<space::Measurement>> MeasureBatch(
        absl::Span<const space::Candidate>) const override {
      return absl::InvalidArgumentError("no number");
    }
  };
  class BrokenModel final : public space::Surrogate {
   public:
    const space::Problem& problem() const override { return problem_; }
    void Learn(absl::Span<const space::Trial>) override {}

   private:
    const Broken problem_;
  };
  class Unpredicted final : public Real {
   public:
    absl::StatusOr<std::unique_ptr<space::Surrogate>> MakeSurrogate()
        const override {
      return std::make_unique<BrokenModel>();
    }
  };
  const Unpredicted problem;
  auto optimizer = CreateOptimizer("xtat", problem, {});
  HONE_ASSERT_OK(optimizer.status());
  EXPECT_THAT(
      RunSearch(problem, **optimizer, {.trials = 9}, FakeClock(), {}).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no number")));
}

TEST(Xtat, AnOptionHasOneValue) {
  HONE_EXPECT_OK(ParseOptimizer("xtat:top_k=3:refresh=2").status());
  EXPECT_THAT(ParseOptimizer("xtat:top_k=3:refresh=2:top_k=3").status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'top_k=3', expected one value of top_k")));
}

TEST(Xtat, RefusesOptionsThatMeanNothing) {
  const Real problem;
  EXPECT_THAT(CreateOptimizer("xtat", problem, {.top_k = 0}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("top_k 0, expected 1 or more")));
  EXPECT_THAT(CreateOptimizer("xtat", problem, {.refresh = -1}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("refresh -1, expected 0 or more")));
  EXPECT_THAT(CreateOptimizer("xtat", problem, {.predictions = 0}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("predictions 0, expected 1 or more")));
}

TEST(Xtat, NeedsAModel) {
  class WithoutModel final : public space::AssignmentProblem {
   public:
    absl::string_view unit() const override { return "points"; }
    space::Candidate DefaultCandidate() const override { return {}; }
    double reference_cost() const override { return 1; }
    absl::Span<const space::VariableGroup> groups() const override {
      return {};
    }
    absl::StatusOr<std::vector<space::Measurement>> MeasureBatch(
        absl::Span<const space::Candidate> candidates) const override {
      return std::vector<space::Measurement>(candidates.size());
    }
  };
  EXPECT_THAT(
      CreateOptimizer("xtat", WithoutModel(), {}).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no cost model")));
}

}  // namespace
}  // namespace hone::optimizers
