#include "optimizers/policies/assignment_sampling.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::optimizers::policies {
namespace {

// Few trials: what polishing finds, not what sampling does.
constexpr int64_t kTrials = 200;

// The least cost of samples with equal scores.
double BestCost(const space::Problem& problem, bool polish, uint64_t seed) {
  const auto optimizer = MakeAssignmentSampling(
      "sampling", *problem.assignment(), {.learn = false, .polish = polish},
      {.seed = seed, .uniform_prior = true});
  HONE_EXPECT_OK(optimizer);
  double best = std::numeric_limits<double>::infinity();
  for (int64_t id = 0; id < kTrials; ++id) {
    const std::vector<space::Candidate> next = (*optimizer)->Suggest(1);
    if (next.empty()) break;
    const space::Measurement measured = *problem.Measure(next[0]);
    best = std::min(best, space::EffectiveCost(measured));
    (*optimizer)->Observe({id, next[0], measured});
  }
  return best;
}

// Proposals of the problem that are empty now and then do not end it.
TEST(AssignmentSampling, PolishedSamplesFindWhatOthersDoNot) {
  const auto problem = testing::LoadBalance(12, 3);
  const double optimum = testing::OptimalCost(*problem);
  int unpolished = 0;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    EXPECT_EQ(BestCost(*problem, /*polish=*/true, seed), optimum)
        << "seed " << seed;
    if (BestCost(*problem, /*polish=*/false, seed) == optimum) ++unpolished;
  }
  EXPECT_LE(unpolished, 1);
}

}  // namespace
}  // namespace hone::optimizers::policies
