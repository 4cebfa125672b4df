// A search resumes from any log of its tuning: never an error, no trial lost.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "storage/memory_store.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_modules.h"
#include "tuning/tuner.h"

namespace hone::tuning {
namespace {

TuningSpec Spec(const std::string& optimizer, int64_t trials = 60) {
  TuningSpec spec;
  spec.optimizer = optimizer;
  spec.budget.trials = trials;
  spec.seed = 5;
  return spec;
}

// The trials of a whole search.
std::vector<space::Trial> LogOf(const std::string& optimizer) {
  storage::MemoryStore store;
  const TunerContext context{.store = &store, .clock = &SystemClock()};
  const auto tuning =
      CreateTuning(context, Spec(optimizer), ParseOrDie(kSimplifiable));
  HONE_EXPECT_OK(tuning.status());
  HONE_EXPECT_OK(RunTuning(context, tuning->id).status());
  return store.ListTrials(tuning->id).value();
}

class Resume : public ::testing::TestWithParam<std::string> {
 protected:
  // Resumes a tuning that has `log`; the log stays, and its ids go on.
  storage::Record Go(const std::vector<space::Trial>& log, int64_t budget) {
    const TunerContext context{.store = &store_, .clock = &SystemClock()};
    const auto tuning = CreateTuning(context, Spec(GetParam(), budget),
                                     ParseOrDie(kSimplifiable));
    HONE_EXPECT_OK(tuning.status());
    HONE_EXPECT_OK(store_.AppendTrials(tuning->id, log));
    const auto record = RunTuning(context, tuning->id);
    EXPECT_THAT(record, hone::testing::IsOk());
    if (!record.ok()) return {};
    EXPECT_LE(record->best_cost, record->default_cost);
    const std::vector<space::Trial> trials =
        store_.ListTrials(tuning->id).value();
    EXPECT_GE(trials.size(), log.size());
    for (size_t i = 0; i < trials.size(); ++i) {
      EXPECT_EQ(trials[i].id, static_cast<int64_t>(i));
      if (i < log.size()) {
        EXPECT_EQ(trials[i].candidate, log[i].candidate);
      }
    }
    EXPECT_EQ(record->trials, static_cast<int64_t>(trials.size()));
    return *record;
  }

  storage::MemoryStore store_;
};

TEST_P(Resume, FromTheLogOfAnotherOptimizer) {
  std::vector<space::Trial> log =
      LogOf(GetParam() == "random" ? "beam" : "random");
  log.resize(30);
  Go(log, 60);
}

TEST_P(Resume, WhereCostsDifferInTheLastDigits) {
  std::vector<space::Trial> log = LogOf(GetParam());
  log.resize(std::min<size_t>(log.size(), 30));
  for (space::Trial& trial : log) trial.measurement.cost *= 1 + 1e-12;
  Go(log, 60);
}

TEST_P(Resume, WhereCostsMeanNothingAnyMore) {
  std::vector<space::Trial> log = LogOf(GetParam());
  log.resize(std::min<size_t>(log.size(), 30));
  // What was worst seems best.
  for (space::Trial& trial : log) {
    trial.measurement.cost = 1000 - trial.measurement.cost;
  }
  const storage::Record record = Go(log, 60);
  // Costs of now, not of the log.
  EXPECT_LT(record.default_cost, 500);
  EXPECT_LT(record.best_cost, 500);
}

TEST_P(Resume, WhereACandidateIsInvalidNow) {
  std::vector<space::Trial> log = LogOf(GetParam());
  log.resize(std::min<size_t>(log.size(), 10));
  const double good = log.back().measurement.cost;
  space::Trial impossible = log.back();
  impossible.candidate.choices = {1'000'000, -1};
  impossible.measurement = {};
  impossible.measurement.cost = 0;
  impossible.id = static_cast<int64_t>(log.size());
  log.push_back(impossible);
  const storage::Record record = Go(log, 60);
  EXPECT_GT(record.best_cost, 0);
  EXPECT_LE(record.best_cost, good);
}

TEST_P(Resume, WithASmallerBudget) {
  const std::vector<space::Trial> log = LogOf(GetParam());
  const storage::Record record =
      Go(log, std::max<int64_t>(1, static_cast<int64_t>(log.size()) / 2));
  EXPECT_EQ(record.trials, static_cast<int64_t>(log.size()));
}

INSTANTIATE_TEST_SUITE_P(Optimizers, Resume,
                         ::testing::Values("annealing", "beam", "default",
                                           "greedy", "random"),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace hone::tuning
