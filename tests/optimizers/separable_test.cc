#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "space/separable_problem.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::optimizers {
namespace {

using ::hone::testing::FakeClock;
using ::hone::testing::TableProblem;

// Other problems side by side.
class SideBySide final : public space::SeparableProblem {
 public:
  explicit SideBySide(std::vector<std::unique_ptr<space::Problem>> parts)
      : parts_(std::move(parts)) {
    int32_t first = 0;
    for (size_t i = 0; i < parts_.size(); ++i) {
      for (space::VariableGroup group : part(i).groups()) {
        group.first = first;
        first += group.count;
        groups_.push_back(std::move(group));
      }
    }
  }

  absl::string_view unit() const override { return "points"; }
  size_t part_count() const override { return parts_.size(); }
  const space::AssignmentProblem& part(size_t i) const override {
    return *parts_[i]->assignment();
  }
  absl::Span<const space::VariableGroup> groups() const override {
    return groups_;
  }
  double reference_cost() const override { return 1; }
  space::Candidate DefaultCandidate() const override {
    space::Candidate all;
    for (size_t i = 0; i < parts_.size(); ++i) {
      const space::Candidate own = part(i).DefaultCandidate();
      all.choices.insert(all.choices.end(), own.choices.begin(),
                         own.choices.end());
    }
    return all;
  }
  absl::StatusOr<std::vector<space::Measurement>> MeasureBatch(
      absl::Span<const space::Candidate> candidates) const override {
    std::vector<space::Measurement> measurements;
    for (const space::Candidate& candidate : candidates) {
      measurements.push_back(MeasureOne(candidate));
    }
    return measurements;
  }

  space::Measurement MeasureOne(const space::Candidate& candidate) const {
    space::Measurement whole;
    auto begin = candidate.choices.begin();
    for (size_t i = 0; i < parts_.size(); ++i) {
      const auto end = begin + part(i).variable_count();
      const space::Measurement own = *part(i).Measure({{begin, end}});
      begin = end;
      if (own.outcome == space::Outcome::kOk) {
        whole.cost += own.cost;
        whole.samples.push_back(own.cost);
        continue;
      }
      whole.outcome = space::Outcome::kInvalid;
      whole.violation += own.violation;
      whole.samples.push_back(own.violation > 0
                                  ? -own.violation
                                  : -std::numeric_limits<double>::infinity());
    }
    return whole;
  }

 private:
  std::vector<std::unique_ptr<space::Problem>> parts_;
  std::vector<space::VariableGroup> groups_;
};

SideBySide ThreeProblems() {
  std::vector<std::unique_ptr<space::Problem>> parts;
  parts.push_back(testing::CappedSum());
  parts.push_back(testing::InfeasibleDefault());
  parts.push_back(testing::CombinationLock());
  return SideBySide(std::move(parts));
}

// The best of each part among `trace`, added up.
double BestParts(const SideBySide& problem,
                 const std::vector<space::Trial>& trace) {
  std::vector<double> best(problem.part_count(),
                           std::numeric_limits<double>::infinity());
  for (const space::Trial& trial : trace) {
    for (size_t i = 0; i < best.size(); ++i) {
      const double sample = trial.measurement.samples[i];
      if (sample >= 0) best[i] = std::min(best[i], sample);
    }
  }
  double sum = 0;
  for (const double cost : best) sum += cost;
  return sum;
}

std::vector<space::Trial> Trace(const SideBySide& problem,
                                absl::string_view optimizer, int64_t trials,
                                int32_t batch_size,
                                absl::Span<const space::Trial> log = {}) {
  auto search = CreateOptimizer(optimizer, problem, {.seed = 5});
  HONE_EXPECT_OK(search.status());
  EXPECT_EQ((*search)->name(), optimizer);
  std::vector<space::Trial> trace(log.begin(), log.end());
  SearchOptions options;
  options.resume = log;
  options.batch_size = batch_size;
  options.on_trial = [&](const space::Trial& trial) {
    trace.push_back(trial);
    return absl::OkStatus();
  };
  HONE_EXPECT_OK(
      RunSearch(problem, **search, {.trials = trials}, FakeClock(), options));
  return trace;
}

TEST(SeparableSearch, SearchesEachPartWithEveryTrial) {
  const SideBySide problem = ThreeProblems();
  double optimum = 0;
  for (size_t i = 0; i < problem.part_count(); ++i) {
    optimum += testing::OptimalCost(problem.part(i));
  }
  // As many trials as the worst part takes by itself.
  EXPECT_EQ(BestParts(problem, Trace(problem, "annealing", 1500, 16)), optimum);
}

TEST(SeparableSearch, BatchesDoNotMatter) {
  const SideBySide problem = ThreeProblems();
  for (const char* optimizer : {"annealing", "genetic", "random", "beam"}) {
    const auto one = Trace(problem, optimizer, 200, 1);
    const auto many = Trace(problem, optimizer, 200, 64);
    ASSERT_EQ(one.size(), many.size()) << optimizer;
    for (size_t i = 0; i < one.size(); ++i) {
      ASSERT_EQ(one[i].candidate, many[i].candidate) << optimizer << " " << i;
    }
  }
}

TEST(SeparableSearch, GoesOnFromItsLog) {
  const SideBySide problem = ThreeProblems();
  const auto whole = Trace(problem, "genetic", 150, 16);
  const auto resumed =
      Trace(problem, "genetic", 150, 16, absl::MakeConstSpan(whole).first(70));
  ASSERT_EQ(whole.size(), resumed.size());
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(whole[i].candidate, resumed[i].candidate);
  }
}

TEST(SeparableSearch, PartsAtTheirEndKeepTheirBest) {
  // 64 assignments of one part, 4 of the other.
  const auto digits = [](size_t count) {
    TableProblem::Spec spec;
    spec.domains.assign(count, 4);
    spec.default_values.assign(count, 0);
    spec.cost = [](absl::Span<const int32_t> values) {
      double cost = 10;
      for (const int32_t value : values) cost -= value == 2 ? 2 : 0;
      return cost;
    };
    return std::make_unique<TableProblem>(std::move(spec));
  };
  std::vector<std::unique_ptr<space::Problem>> parts;
  parts.push_back(digits(3));
  parts.push_back(digits(1));
  const SideBySide problem(std::move(parts));
  auto search = CreateOptimizer("exhaustive", problem, {});
  HONE_ASSERT_OK(search.status());
  auto result = RunSearch(problem, **search, {.trials = 1000}, FakeClock(), {});
  HONE_ASSERT_OK(result.status());
  EXPECT_EQ(result->trials, 64);
  EXPECT_EQ(result->end, SearchEnd::kExhausted);
  EXPECT_EQ(result->best->candidate.choices,
            (std::vector<int32_t>{2, 2, 2, 2}));
}

}  // namespace
}  // namespace hone::optimizers
