#include "tuning/tasks/step_local.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/random_steps.h"
#include "tuning/tasks/step_problem.h"

namespace hone::tuning {
namespace {

int32_t RandomValue(const StepProblem& problem, int32_t variable, Rng& rng) {
  return static_cast<int32_t>(
      rng.Below(static_cast<uint64_t>(problem.domain_size(variable))));
}

// A few variables of any kinds, each once.
std::vector<space::Change> RandomChanges(const StepProblem& problem, Rng& rng) {
  std::vector<space::Change> changes;
  const auto variables = static_cast<uint64_t>(problem.variable_count());
  for (uint64_t n = 1 + rng.Below(4); n > 0; --n) {
    const auto v = static_cast<int32_t>(rng.Below(variables));
    const bool is_new = std::none_of(
        changes.begin(), changes.end(),
        [&](const space::Change& change) { return change.variable == v; });
    if (is_new) changes.push_back({v, RandomValue(problem, v, rng)});
  }
  return changes;
}

std::vector<int32_t> ValuesOf(const space::LocalState& state) {
  return {state.values().begin(), state.values().end()};
}

std::vector<int32_t> Changed(std::vector<int32_t> values,
                             const std::vector<space::Change>& changes) {
  for (const space::Change& change : changes) {
    values[static_cast<size_t>(change.variable)] = change.value;
  }
  return values;
}

// Bit for bit.
void ExpectMeasured(const StepProblem& problem,
                    const std::vector<int32_t>& values,
                    const space::LocalScore& score) {
  HONE_ASSERT_OK_AND_ASSIGN(const space::Measurement measured,
                            problem.Measure({values}));
  EXPECT_EQ(score.rank.cost, measured.cost);
  EXPECT_EQ(score.rank.violation, measured.violation);
  EXPECT_GE(score.energy, measured.cost);
}

TEST(StepLocal, BeginsWithTheScoreOfItsValues) {
  ForEachStepProblem(1, 30, 30, [](const StepProblem& problem, Rng& rng) {
    for (int i = 0; i < 5; ++i) {
      const std::vector<int32_t> values = RandomValues(problem, rng);
      const auto state = problem.MakeLocal({values});
      EXPECT_EQ(ValuesOf(*state), values);
      ExpectMeasured(problem, values, state->score());
    }
    for (const space::Seed& seed : problem.Seeds()) {
      ExpectMeasured(problem, seed.candidate.choices,
                     problem.MakeLocal(seed.candidate)->score());
    }
  });
}

TEST(StepLocal, RandomWalksNeverDriftFromMeasurements) {
  int64_t kinds[4] = {};
  ForEachStepProblem(2, 40, 30, [&](const StepProblem& problem, Rng& rng) {
    const auto state = problem.MakeLocal({RandomValues(problem, rng)});
    std::vector<space::Change> changes;
    for (int step = 0; step < 40; ++step) {
      state->Propose(rng, changes);
      if (changes.empty() || rng.Below(3) == 0) {
        changes = RandomChanges(problem, rng);
      }
      const std::vector<int32_t> before = ValuesOf(*state);
      const std::vector<int32_t> after = Changed(before, changes);
      ASSERT_TRUE(problem.IsInDomain(after));
      const space::LocalScore score = state->score();
      const int64_t evaluations = problem.evaluations();
      const space::LocalScore tried = state->Try(changes);
      EXPECT_EQ(problem.evaluations(), evaluations + 1);
      ExpectMeasured(problem, after, tried);
      // Nothing has changed so far.
      EXPECT_EQ(ValuesOf(*state), before);
      EXPECT_EQ(state->score().rank, score.rank);
      EXPECT_EQ(state->score().energy, score.energy);
      if (rng.Below(2) == 0) continue;
      state->Commit();
      EXPECT_EQ(ValuesOf(*state), after);
      EXPECT_EQ(state->score().rank, tried.rank);
      EXPECT_EQ(state->score().energy, tried.energy);
      EXPECT_EQ(problem.MakeLocal({after})->score().energy, tried.energy);
      for (const space::Change& change : changes) {
        const StepSpace& space = problem.space();
        const bool is_order = change.variable == space.order_variable();
        const auto is_of = [&](int32_t first) {
          return first >= 0 && change.variable >= first;
        };
        ++kinds[is_order                        ? 0
                : is_of(space.first_fused())    ? 3
                : is_of(space.first_priority()) ? 2
                                                : 1];
      }
    }
  });
  // All kinds of changes were made.
  for (const int64_t count : kinds) EXPECT_GT(count, 100);
}

// What a move tries must not leave traces in the next one.
TEST(StepLocal, TryingManyMovesChangesNothing) {
  ForEachStepProblem(3, 25, 25, [](const StepProblem& problem, Rng& rng) {
    const std::vector<int32_t> values = RandomValues(problem, rng);
    const auto state = problem.MakeLocal({values});
    std::vector<space::Change> changes;
    for (int i = 0; i < 30; ++i) {
      changes = RandomChanges(problem, rng);
      const space::LocalScore first = state->Try(changes);
      const space::LocalScore second = state->Try(changes);
      EXPECT_EQ(first.rank, second.rank);
      EXPECT_EQ(first.energy, second.energy);
    }
    // The last move is made, as if it were the only one.
    state->Commit();
    EXPECT_EQ(ValuesOf(*state), Changed(values, changes));
    ExpectMeasured(problem, Changed(values, changes), state->score());
  });
}

TEST(StepLocal, ProposalsChangeDistinctVariables) {
  int64_t proposals = 0;
  ForEachStepProblem(4, 30, 30, [&](const StepProblem& problem, Rng& rng) {
    const auto state = problem.MakeLocal(problem.DefaultCandidate());
    std::vector<space::Change> changes;
    for (int i = 0; i < 50; ++i) {
      state->Propose(rng, changes);
      std::vector<int32_t> seen;
      for (const space::Change& change : changes) {
        EXPECT_GE(change.value, 0);
        ASSERT_LT(change.value, problem.domain_size(change.variable));
        EXPECT_THAT(seen, ::testing::Not(::testing::Contains(change.variable)));
        seen.push_back(change.variable);
      }
      if (changes.empty()) continue;
      ++proposals;
      EXPECT_NE(Changed(ValuesOf(*state), changes), ValuesOf(*state));
    }
  });
  EXPECT_GT(proposals, 1000);
}

}  // namespace
}  // namespace hone::tuning
