// Coordinate descent where changes are evaluated incrementally.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::optimizers {
namespace {

using ::hone::testing::FakeClock;
using ::hone::testing::LoadBalance;

// The trials of a descent from the default, to its end.
std::vector<space::Trial> Descend(const space::Problem& problem) {
  std::vector<space::Trial> trace;
  SearchOptions options;
  options.on_trial = [&](const space::Trial& trial) {
    trace.push_back(trial);
    return absl::OkStatus();
  };
  const auto optimizer = CreateOptimizer("greedy", problem, {});
  HONE_EXPECT_OK(optimizer);
  const auto result =
      RunSearch(problem, **optimizer, {.trials = 1000}, FakeClock(), options);
  HONE_EXPECT_OK(result);
  EXPECT_EQ(result->end, SearchEnd::kExhausted);
  return trace;
}

TEST(GreedyByMoves, EndsWhereNoChangeOfOneVariableIsBetter) {
  for (const int32_t jobs : {5, 7, 8, 10, 11, 13}) {
    SCOPED_TRACE(jobs);
    const auto problem = LoadBalance(jobs, 3);
    const space::AssignmentProblem& assignment = *problem->assignment();
    const auto key = [&](const space::Candidate& candidate) {
      const space::LocalScore score = assignment.MakeLocal(candidate)->score();
      return std::make_pair(score.rank.violation, score.energy);
    };
    const std::vector<space::Trial> trace = Descend(*problem);
    ASSERT_GT(trace.size(), 1u);
    for (size_t t = 1; t < trace.size(); ++t) {
      EXPECT_LT(key(trace[t].candidate), key(trace[t - 1].candidate));
    }
    const space::Candidate& end = trace.back().candidate;
    for (int32_t v = 0; v < assignment.variable_count(); ++v) {
      for (int32_t value = 0; value < assignment.domain_size(v); ++value) {
        space::Candidate other = end;
        other.choices[static_cast<size_t>(v)] = value;
        EXPECT_GE(key(other), key(end)) << v << " to " << value;
      }
    }
  }
}

TEST(GreedyByMoves, ProposesNothingWhereNoVariableCanChange) {
  // All machines have as many jobs as they may.
  EXPECT_EQ(Descend(*LoadBalance(12, 3)).size(), 1u);
}

}  // namespace
}  // namespace hone::optimizers
