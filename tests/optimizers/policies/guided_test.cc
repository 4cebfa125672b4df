// The limited discrepancy search of the optimizer "guided" on sequences.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "optimizers/registry.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::optimizers::policies {
namespace {

using ::testing::Each;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr int32_t kMaxSteps = 6;

// Numbers from 0 on that grow by 1, 2 or 3 a step, so that many ways meet but
// none comes back.
testing::IntegerProblem::Spec Growing() {
  testing::IntegerProblem::Spec spec;
  spec.actions = {{"add1", [](int64_t n) { return n + 1; }},
                  {"add2", [](int64_t n) { return n + 2; }},
                  {"add3", [](int64_t n) { return n + 3; }}};
  // Up and down.
  spec.cost = [](int64_t n) { return static_cast<double>(20 + n * 5 % 7); };
  spec.max_steps = kMaxSteps;
  return spec;
}

// What the search itself proposes, at most `trials` candidates.
std::vector<space::Trial> Trace(const space::Problem& problem,
                                const OptimizerOptions& options,
                                int64_t trials) {
  std::vector<space::Trial> trace;
  const auto optimizer = CreateOptimizer("guided", problem, options);
  HONE_EXPECT_OK(optimizer);
  for (int64_t id = 0; id < trials; ++id) {
    const std::vector<space::Candidate> next = (*optimizer)->Suggest(1);
    if (next.empty()) break;
    trace.push_back({id, next[0], *problem.Measure(next[0])});
    (*optimizer)->Observe(trace.back());
  }
  return trace;
}

TEST(Guided, ProposesNothingTwice) {
  for (const auto make : {testing::NumberRewriting, testing::DelayedReward,
                          testing::ExpensiveCosts, testing::ChangingLegality}) {
    for (uint64_t seed = 0; seed < 3; ++seed) {
      const auto problem = make();
      std::set<std::vector<int32_t>> seen;
      for (const space::Trial& trial :
           Trace(*problem, {.seed = seed, .uniform_prior = true}, 200)) {
        EXPECT_TRUE(seen.insert(trial.candidate.choices).second);
      }
      EXPECT_GT(seen.size(), 1u);
    }
  }
}

TEST(Guided, AsksThePolicyOnceForEachState) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    testing::IntegerProblem::Spec spec = Growing();
    // A policy is asked with one view, which has each action once.
    std::map<int64_t, int> asked;
    spec.feature = [&asked](int64_t state, int32_t action) {
      if (action == 0) ++asked[state];
      return 0.0F;
    };
    const testing::IntegerProblem problem(std::move(spec));
    // The search comes to its end by itself.
    EXPECT_LT(
        Trace(problem, {.seed = seed, .uniform_prior = true}, 1000).size(),
        1000u);
    EXPECT_THAT(asked, Each(Pair(::testing::_, 1)));
    // More than the first game passed.
    EXPECT_GT(asked.size(), size_t{kMaxSteps});
  }
}

TEST(Guided, FindsWhatLiesBehindHigherCosts) {
  const auto problem = testing::DelayedReward();
  for (uint64_t seed = 0; seed < 10; ++seed) {
    double best = std::numeric_limits<double>::infinity();
    for (const space::Trial& trial :
         Trace(*problem, {.seed = seed, .uniform_prior = true}, 20)) {
      best = std::min(best, space::EffectiveCost(trial.measurement));
    }
    EXPECT_EQ(best, testing::OptimalCost(*problem)) << "seed " << seed;
  }
}

// Where costs are measured each new state is a trial, so that the trace shows
// the games, whatever the policy.
TEST(Guided, PlaysTheFirstGameToItsEndAndDepartsFromEarlierOnesThen) {
  for (const bool uniform : {true, false}) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
      testing::IntegerProblem::Spec spec = Growing();
      spec.costs_are_free = false;
      const testing::IntegerProblem problem(std::move(spec));
      const std::vector<space::Trial> trace =
          Trace(problem, {.seed = seed, .uniform_prior = uniform}, 1000);
      ASSERT_GT(trace.size(), size_t{kMaxSteps + 1});
      std::set<std::vector<int32_t>> measured;
      for (size_t t = 0; t < trace.size(); ++t) {
        std::vector<int32_t> from = trace[t].candidate.choices;
        if (t <= size_t{kMaxSteps}) {
          ASSERT_THAT(from, SizeIs(t));
        }
        if (!from.empty()) from.pop_back();
        if (t > 0 && t <= size_t{kMaxSteps}) {
          EXPECT_EQ(from, trace[t - 1].candidate.choices);
        } else if (t > 0) {
          EXPECT_TRUE(measured.contains(from)) << "trial " << t;
        }
        measured.insert(trace[t].candidate.choices);
      }
    }
  }
}

}  // namespace
}  // namespace hone::optimizers::policies
