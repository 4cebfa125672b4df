#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tests/support/fake_clock.h"
#include "tests/support/locks.h"
#include "tests/support/status_matchers.h"

namespace hone::optimizers {
namespace {

using ::hone::testing::FakeClock;
using ::hone::testing::Lock;
using ::hone::testing::Locks;
using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

std::vector<space::Trial> SearchLocks(const Locks& locks, int64_t trials,
                                      absl::Span<const space::Trial> log = {}) {
  auto optimizer = CreateOptimizer("parts", locks, {.seed = 3});
  HONE_EXPECT_OK(optimizer.status());
  std::vector<space::Trial> trace(log.begin(), log.end());
  SearchOptions options;
  options.resume = log;
  options.on_trial = [&](const space::Trial& trial) {
    trace.push_back(trial);
    return absl::OkStatus();
  };
  HONE_EXPECT_OK(
      RunSearch(locks, **optimizer, {.trials = trials}, FakeClock(), options));
  return trace;
}

double LeastCost(const std::vector<space::Trial>& trace) {
  double least = trace[0].measurement.cost;
  for (const space::Trial& trial : trace) {
    least = std::min(least, trial.measurement.cost);
  }
  return least;
}

// The number of distinct candidates of a part that were tried.
size_t TriedOf(const Locks& locks, const std::vector<space::Trial>& trace,
               size_t part) {
  std::vector<space::Candidate> tried;
  for (const space::Trial& trial : trace) {
    const space::Candidate own = (*locks.Decompose(trial.candidate))[part];
    if (std::find(tried.begin(), tried.end(), own) == tried.end()) {
      tried.push_back(own);
    }
  }
  return tried.size();
}

TEST(Parts, SolvesEachPartOnItsOwn) {
  const Locks locks({10, 10, 10, 10});
  // All keys are found: there are 8^16 of them together.
  EXPECT_EQ(LeastCost(SearchLocks(locks, 1000)), 40);
}

TEST(Parts, TrialsGoWhereTheCostIs) {
  const Locks locks({1000, 1, 1, 1});
  const std::vector<space::Trial> trace = SearchLocks(locks, 100);
  EXPECT_GT(TriedOf(locks, trace, 0), 80);
}

TEST(Parts, APartWithoutProgressIsLeft) {
  // The first part is solved in about 130 trials, and then still the dearest.
  const Locks locks({100, 19});
  EXPECT_EQ(LeastCost(SearchLocks(locks, 800)), 119);
}

TEST(Parts, StartsFromTheBestOfEachPart) {
  const Locks locks({5, 3});
  // One trial solves the first lock, another one the second.
  std::vector<space::Trial> log = {{0, {}, {}},
                                   {1, {{Lock::kDigits, 1, 3, 0, 7}}, {}},
                                   {2, {{Lock::kDigits + 1, 2, 4, 3, 6}}, {}}};
  for (space::Trial& trial : log) {
    trial.measurement = *locks.Measure(trial.candidate);
  }
  EXPECT_EQ(LeastCost(log), 5 + 15);
  EXPECT_EQ(LeastCost(SearchLocks(locks, 12, log)), 8);
}

TEST(Parts, NeedsAProblemOfParts) {
  const Lock lock(1, {1, 2, 3, 4});
  EXPECT_THAT(CreateOptimizer("parts", lock, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("expected one of parts")));
}

}  // namespace
}  // namespace hone::optimizers
