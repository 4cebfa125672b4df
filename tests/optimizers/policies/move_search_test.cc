#include "optimizers/policies/move_search.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/clock.h"
#include "base/temporary_directory.h"
#include "optimizers/policies/training.h"
#include "optimizers/search.h"
#include "tests/support/ring_problem.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::optimizers::policies {
namespace {

using ::hone::testing::RingProblem;
using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

constexpr AssignmentSampling kUniform = {.learn = false};
constexpr AssignmentSampling kLearning = {.learn = true};

std::unique_ptr<Optimizer> Make(const RingProblem& problem,
                                const AssignmentSampling& sampling,
                                const OptimizerOptions& options) {
  auto optimizer = MakeMoveSearch("moves", problem, sampling, options);
  HONE_EXPECT_OK(optimizer);
  return *std::move(optimizer);
}

SearchResult Search(const RingProblem& problem, Optimizer& optimizer,
                    const space::Budget& budget,
                    const SearchOptions& options = {}) {
  auto result = RunSearch(problem, optimizer, budget, SystemClock(), options);
  HONE_EXPECT_OK(result);
  return *std::move(result);
}

// The cost after about so many evaluations, from the seeds on.
double CostAfter(const RingProblem::Options& ring, int64_t evaluations,
                 const AssignmentSampling& sampling,
                 const OptimizerOptions& options) {
  const RingProblem problem(ring);
  const auto optimizer = Make(problem, sampling, options);
  return Search(problem, *optimizer,
                {.trials = 1'000'000, .evaluations = evaluations})
      .best->measurement.cost;
}

TEST(MoveSearch, FindsTheOptimum) {
  for (const bool learn : {false, true}) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
      const RingProblem::Options ring = {
          .variables = 7, .values = 4, .seed = 10 + seed};
      const double optimum = testing::OptimalCost(RingProblem(ring));
      EXPECT_NEAR(CostAfter(ring, 1500, learn ? kLearning : kUniform,
                            {.seed = seed, .uniform_prior = !learn}),
                  optimum, 1e-9)
          << "seed " << seed << (learn ? ", learning" : "");
    }
  }
}

TEST(MoveSearch, IsNeverWorseThanTheSeeds) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const RingProblem::Options ring = {
        .variables = 10, .values = 3, .seed = seed};
    const RingProblem problem(ring);
    double best_seed = std::numeric_limits<double>::infinity();
    for (const space::Seed& known : problem.Seeds()) {
      best_seed = std::min(best_seed, problem.Cost(known.candidate.choices));
    }
    for (const int64_t evaluations : {2, 3, 10}) {
      EXPECT_LE(CostAfter(ring, evaluations, kUniform, {.seed = seed}),
                best_seed);
    }
  }
}

// Tries may go over the budget by a 32nd of those made before, and a round.
TEST(MoveSearch, OverstepsItsBudgetByLittle) {
  for (const int64_t evaluations : {3, 4, 10, 50, 333, 1000, 3000}) {
    const RingProblem problem({.variables = 30, .values = 6});
    const auto optimizer = Make(problem, kUniform, {.uniform_prior = true});
    const SearchResult result = Search(
        problem, *optimizer, {.trials = 1'000'000, .evaluations = evaluations});
    EXPECT_EQ(result.end, SearchEnd::kEvaluations);
    EXPECT_GE(problem.evaluations(), evaluations);
    EXPECT_LE(problem.evaluations(), evaluations + evaluations / 32 + 3);
  }
}

TEST(MoveSearch, EndsWithoutProposals) {
  for (const AssignmentSampling& sampling : {kUniform, kLearning}) {
    const RingProblem problem({.proposes = false});
    const auto optimizer = Make(problem, sampling, {});
    const SearchResult result = Search(problem, *optimizer, {.trials = 100});
    EXPECT_EQ(result.end, SearchEnd::kExhausted);
    EXPECT_EQ(result.trials, 2);
  }
}

TEST(MoveSearch, IsDeterministicBySeedWhateverTheRequests) {
  const auto trace = [](const AssignmentSampling& sampling, uint64_t seed,
                        int32_t batch) {
    const RingProblem problem({.variables = 20, .values = 5});
    const auto optimizer = Make(problem, sampling, {.seed = seed});
    std::vector<std::vector<int32_t>> trials;
    SearchOptions options;
    options.batch_size = batch;
    options.on_trial = [&](const space::Trial& trial) {
      trials.push_back(trial.candidate.choices);
      return absl::OkStatus();
    };
    Search(problem, *optimizer, {.trials = 35}, options);
    EXPECT_EQ(trials.size(), 35u);
    return trials;
  };
  for (const AssignmentSampling& sampling : {kUniform, kLearning}) {
    const auto first = trace(sampling, 1, 16);
    EXPECT_EQ(trace(sampling, 1, 1), first);
    EXPECT_NE(trace(sampling, 2, 16), first);
  }
}

TEST(MoveSearch, LeavesOutTheEstimateIfItIsToldTo) {
  const auto tries = [](float estimate, const AssignmentSampling& sampling,
                        bool without_estimate) {
    const RingProblem problem(
        {.variables = 20, .values = 5, .estimate = estimate});
    const auto optimizer = Make(
        problem, sampling, {.seed = 1, .without_estimate = without_estimate});
    Search(problem, *optimizer, {.trials = 30});
    std::vector<std::vector<int32_t>> from;
    for (const RingProblem::Attempt& attempt : problem.tries()) {
      from.push_back(attempt.from);
    }
    return from;
  };
  for (const AssignmentSampling& sampling : {kUniform, kLearning}) {
    const auto plain = tries(0, sampling, false);
    EXPECT_EQ(tries(6, sampling, true), plain);
    EXPECT_NE(tries(6, sampling, false), plain);
  }
}

TEST(MoveSearch, GoesOnFromALog) {
  for (const AssignmentSampling& sampling : {kUniform, kLearning}) {
    const RingProblem problem({.variables = 40, .values = 8});
    std::vector<space::Trial> log;
    SearchOptions options;
    options.on_trial = [&](const space::Trial& trial) {
      log.push_back(trial);
      return absl::OkStatus();
    };
    const auto first = Make(problem, sampling, {.seed = 1});
    EXPECT_FALSE(first->replays());
    const SearchResult half = Search(problem, *first, {.trials = 15}, options);
    const auto resume = [&](Optimizer& optimizer) {
      SearchOptions resumed;
      resumed.resume = log;
      const size_t tries = problem.tries().size();
      const SearchResult whole =
          Search(problem, optimizer, {.trials = 35}, resumed);
      EXPECT_EQ(whole.trials, 35);
      // From the best of the log.
      EXPECT_EQ(problem.tries()[tries].from, half.best->candidate.choices);
      return whole.best->measurement.cost;
    };
    const auto second = Make(problem, sampling, {.seed = 1});
    const double cost = resume(*second);
    EXPECT_LT(cost, half.best->measurement.cost);
    const auto again = Make(problem, sampling, {.seed = 1});
    EXPECT_EQ(resume(*again), cost);
    // An optimizer that has searched before, too.
    second->Adopt(log);
    ASSERT_FALSE(second->Suggest(1).empty());
  }
}

TEST(MoveSearch, PollsStop) {
  const RingProblem problem({.variables = 60, .values = 8});
  bool stops = false;
  int64_t polled = 0;
  const auto optimizer = Make(problem, kUniform, {.stop = [&] {
                                ++polled;
                                return stops;
                              }});
  std::vector<space::Trial> log;
  for (int64_t id = 0; id < 70; ++id) {
    const std::vector<space::Candidate> next = optimizer->Suggest(1);
    ASSERT_EQ(next.size(), 1u);
    optimizer->Observe({id, next[0], *problem.Measure(next[0])});
    log.push_back({id, next[0], *problem.Measure(next[0])});
  }
  EXPECT_GE(polled, static_cast<int64_t>(problem.tries().size()) / 4);
  stops = true;
  const size_t tries = problem.tries().size();
  optimizer->Adopt(log);
  EXPECT_EQ(problem.tries().size(), tries);
  EXPECT_TRUE(optimizer->Suggest(1).empty());
}

TEST(MoveSearch, NamesWeightsThatAreNotThere) {
  const RingProblem problem({});
  EXPECT_THAT(
      MakeMoveSearch("moves", problem, kUniform, {.weights = "/no/such"}),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such")));
}

class MoveTrainingTest : public ::testing::Test {
 protected:
  static TrainingProblem Ring(uint64_t seed) {
    return {absl::StrCat("ring", seed),
            [seed]() -> absl::StatusOr<std::unique_ptr<space::Problem>> {
              return std::make_unique<RingProblem>(RingProblem::Options{
                  .variables = 20, .values = 6, .seed = seed});
            }};
  }
  TrainingOptions Options() const {
    TrainingOptions options;
    options.architecture = "width=16,layers=1";
    options.search_trials = 0;
    options.label_rounds = 10;
    options.updates = 10;
    options.problems_per_update = 2;
    options.weights_file = folder_.path() + "/weights";
    return options;
  }

  const TrainingSet set_ = {{Ring(1), Ring(2), Ring(3)}, {Ring(4)}};
  const TemporaryDirectory folder_;
};

TEST_F(MoveTrainingTest, PoliciesThatWereTrainedFindMoreAtOnce) {
  HONE_ASSERT_OK_AND_ASSIGN(const TrainingResult trained,
                            Train(set_, Options()));
  EXPECT_LT(trained.best_validation, 1);
  double by_policy = 0;
  double uniform = 0;
  double finetuned = 0;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    // Larger ones than those of the training, and others.
    const RingProblem::Options ring = {
        .variables = 60, .values = 8, .seed = 100 + seed};
    const std::string weights = Options().weights_file;
    by_policy +=
        CostAfter(ring, 200, kUniform, {.seed = seed, .weights = weights});
    finetuned +=
        CostAfter(ring, 200, kLearning, {.seed = seed, .weights = weights});
    uniform +=
        CostAfter(ring, 200, kUniform,
                  {.seed = seed, .weights = weights, .uniform_prior = true});
  }
  EXPECT_LT(by_policy, 0.9 * uniform);
  EXPECT_LT(finetuned, 0.9 * uniform);
}

TEST_F(MoveTrainingTest, LearningWithinOneSearchHelps) {
  double learning = 0;
  double uniform = 0;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const RingProblem::Options ring = {
        .variables = 60, .values = 8, .seed = 200 + seed};
    learning += CostAfter(ring, 500, kLearning, {.seed = seed});
    uniform +=
        CostAfter(ring, 500, kUniform, {.seed = seed, .uniform_prior = true});
  }
  EXPECT_LT(learning, 0.97 * uniform);
}

}  // namespace
}  // namespace hone::optimizers::policies
