// Annealing by the moves of a problem that evaluates changes incrementally.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gtest/gtest.h"

#include "base/rng.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::optimizers {
namespace {

using ::hone::testing::FakeClock;
using ::hone::testing::LoadBalance;

SearchResult Anneal(const space::Problem& problem, uint64_t seed,
                    int64_t trials) {
  const auto optimizer = CreateOptimizer("annealing", problem, {.seed = seed});
  HONE_EXPECT_OK(optimizer);
  const auto result =
      RunSearch(problem, **optimizer, {.trials = trials}, FakeClock());
  HONE_EXPECT_OK(result);
  return *result;
}

// What the tests below rest on.
TEST(LoadBalance, IsEvaluatedIncrementallyAsMeasured) {
  Rng rng(1);
  for (const int32_t jobs : {4, 7, 12}) {
    const auto problem = LoadBalance(jobs, 3);
    const auto local =
        problem->assignment()->MakeLocal(problem->DefaultCandidate());
    std::vector<space::Change> changes;
    int proposed = 0;
    for (int step = 0; step < 300; ++step) {
      local->Propose(rng, changes);
      if (changes.empty()) continue;
      ++proposed;
      space::Candidate after{{local->values().begin(), local->values().end()}};
      for (const space::Change& change : changes) {
        after.choices[static_cast<size_t>(change.variable)] = change.value;
      }
      const space::LocalScore score = local->Try(changes);
      EXPECT_EQ(score.rank, space::RankOf(*problem->Measure(after)));
      EXPECT_EQ(problem->assignment()->MakeLocal(after)->score().energy,
                score.energy);
      if (rng.Below(2) == 0) {
        local->Commit();
        EXPECT_EQ(local->values(), absl::MakeConstSpan(after.choices));
        EXPECT_EQ(local->score().energy, score.energy);
      }
    }
    EXPECT_EQ(proposed, 200);
  }
}

TEST(AnnealingByMoves, FindsTheOptimumAndUsesItsBudget) {
  // No job can move by itself: the way is one of exchanges and of violations.
  const auto problem = LoadBalance(12, 3);
  const double optimum = testing::OptimalCost(*problem);
  ASSERT_GT(problem->Measure(problem->DefaultCandidate())->cost, optimum);
  for (uint64_t seed = 0; seed < 5; ++seed) {
    SCOPED_TRACE(seed);
    const SearchResult result = Anneal(*problem, seed, 320);
    ASSERT_TRUE(result.best);
    EXPECT_EQ(result.best->measurement.cost, optimum);
    // Proposals that are empty now and then do not end it.
    EXPECT_EQ(result.trials, 320);
    EXPECT_EQ(result.end, SearchEnd::kTrials);
  }
}

TEST(AnnealingByMoves, EndsWhereThereIsNoOtherAssignment) {
  const SearchResult result = Anneal(*LoadBalance(3, 1), 1, 60);
  EXPECT_EQ(result.trials, 1);
  EXPECT_EQ(result.end, SearchEnd::kExhausted);
}

}  // namespace
}  // namespace hone::optimizers
