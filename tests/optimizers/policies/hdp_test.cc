#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "optimizers/policies/factories.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::optimizers::policies {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

constexpr size_t kOperators = 16;

// A chain of operators on two devices, after `others` variables of another
// kind: the last ones belong on device 1, and each operator elsewhere costs
// something. If `tight`, placements with fewer than 12 operators on device 1
// are invalid.
std::unique_ptr<testing::TableProblem> Chain(bool tight, size_t others) {
  testing::TableProblem::Spec spec;
  spec.domains.assign(kOperators + others, 2);
  std::fill_n(spec.domains.begin(), others, 3);
  spec.default_values.assign(kOperators + others, 0);
  for (size_t i = others + 1; i < kOperators + others; ++i) {
    spec.edges.emplace_back(i - 1, i);
  }
  // More than half of them, so that all on one device is better than at random;
  // where that is valid, costs pull towards what is not.
  const size_t first = kOperators / (tight ? 2 : 4);
  spec.cost = [first, others](absl::Span<const int32_t> values) {
    double cost = 4 - values[0];
    for (size_t i = others; i < values.size(); ++i) {
      if (values[i] != (i - others >= first ? 1 : 0)) ++cost;
    }
    return cost;
  };
  if (tight) {
    spec.violation = [others](absl::Span<const int32_t> values) {
      const auto load =
          std::count(values.begin() + static_cast<std::ptrdiff_t>(others),
                     values.end(), 1);
      return load >= 12 ? 0.0 : static_cast<double>(12 - load);
    };
  }
  spec.reference_cost = kOperators;
  return std::make_unique<testing::TableProblem>(std::move(spec));
}

std::unique_ptr<Optimizer> Make(const space::Problem& problem,
                                const OptimizerOptions& options) {
  auto optimizer = CreateHdp(problem, options);
  HONE_EXPECT_OK(optimizer);
  return *std::move(optimizer);
}

// Goes on with a search, from the trials so far.
void Search(const space::Problem& problem, Optimizer& optimizer, size_t trials,
            std::vector<space::Trial>& log) {
  while (log.size() < trials) {
    const auto next = optimizer.Suggest(1);
    if (next.empty()) break;
    log.push_back(
        {static_cast<int64_t>(log.size()), next[0], *problem.Measure(next[0])});
    optimizer.Observe(log.back());
  }
}

std::vector<std::vector<int32_t>> ChoicesOf(
    const std::vector<space::Trial>& log) {
  std::vector<std::vector<int32_t>> choices;
  for (const space::Trial& trial : log) {
    choices.push_back(trial.candidate.choices);
  }
  return choices;
}

double MeanCost(absl::Span<const space::Trial> trials) {
  double sum = 0;
  for (const space::Trial& trial : trials) sum += trial.measurement.cost;
  return sum / static_cast<double>(trials.size());
}

double InvalidShare(absl::Span<const space::Trial> trials) {
  const auto invalid =
      std::count_if(trials.begin(), trials.end(), [](const auto& trial) {
        return trial.measurement.outcome != space::Outcome::kOk;
      });
  return static_cast<double>(invalid) / static_cast<double>(trials.size());
}

// Of a short search: once the policy has converged, it draws little that is
// new, and what is new is drawn at random. Some seeds (1, 2) take longer.
TEST(Hdp, ProposesBetterPlacementsTheLongerItLearns) {
  const auto problem = Chain(/*tight=*/false, /*others=*/2);
  for (uint64_t seed = 3; seed <= 7; ++seed) {
    std::vector<space::Trial> log;
    Search(*problem, *Make(*problem, {.seed = seed}), 301, log);
    ASSERT_EQ(log.size(), 301);
    const auto trials = absl::MakeConstSpan(log);
    EXPECT_LT(MeanCost(trials.last(100)), MeanCost(trials.subspan(1, 50)) - 1.5)
        << "seed " << seed;
  }
}

// Most at random are invalid, and so is the default.
TEST(Hdp, LearnsToAvoidInvalidPlacements) {
  const auto problem = Chain(/*tight=*/true, /*others=*/2);
  std::vector<space::Trial> log;
  Search(*problem, *Make(*problem, {.seed = 2}), 400, log);
  ASSERT_EQ(log.size(), 400);
  const auto trials = absl::MakeConstSpan(log);
  EXPECT_GT(InvalidShare(trials.first(40)), 0.5);
  EXPECT_LT(InvalidShare(trials.last(100)), 0.4);
}

TEST(Hdp, KeepsOtherVariablesOfTheBestFirstCandidate) {
  const auto problem = Chain(/*tight=*/false, /*others=*/2);
  std::vector<int32_t> better(kOperators + 2);
  better[0] = 2;
  std::vector<int32_t> worse = better;
  worse[0] = 1;
  std::vector<space::Trial> log;
  Search(*problem, *Make(*problem, {.start = {{better}, {worse}}}), 40, log);
  ASSERT_EQ(log.size(), 40);
  for (size_t i = 3; i < log.size(); ++i) {
    EXPECT_EQ(log[i].candidate.choices[0], 2);
    EXPECT_EQ(log[i].candidate.choices[1], 0);
  }
}

// Like the order of a step: what is best for the best placement is found.
TEST(Hdp, TriesEachValueOfASingleVariable) {
  const auto problem = Chain(/*tight=*/false, /*others=*/1);
  std::vector<space::Trial> log;
  Search(*problem, *Make(*problem, {.seed = 1}), 60, log);
  ASSERT_EQ(log.size(), 60);
  // The default's in the first samples, then each other one with the best.
  std::vector<space::Trial> samples(log.begin() + 1, log.end());
  EXPECT_EQ(samples[0].candidate.choices[0], 0);
  const auto varied = std::find_if(
      samples.begin(), samples.end(),
      [](const auto& trial) { return trial.candidate.choices[0] != 0; });
  ASSERT_LT(varied + 2, samples.end());
  EXPECT_EQ(varied[0].candidate.choices[0], 1);
  EXPECT_EQ(varied[1].candidate.choices[0], 2);
  const auto best = std::min_element(
      samples.begin(), varied, [](const auto& a, const auto& b) {
        return a.measurement.cost < b.measurement.cost;
      });
  EXPECT_EQ(varied[1].measurement.cost, best->measurement.cost - 2);
  int64_t again = 0;
  for (auto it = varied + 2; it != samples.end(); ++it) {
    // Again with the best after two updates, four, …: worse ones.
    if (it->candidate.choices[0] != 2) {
      ++again;
      EXPECT_GT(it->measurement.cost,
                std::min_element(samples.begin(), it,
                                 [](const auto& a, const auto& b) {
                                   return a.measurement.cost <
                                          b.measurement.cost;
                                 })
                    ->measurement.cost);
    }
  }
  EXPECT_GT(again, 0);
  EXPECT_EQ(samples.back().candidate.choices[0], 2);
}

TEST(Hdp, NeverProposesAnAssignmentTwice) {
  // 16 placements in all.
  testing::TableProblem::Spec spec;
  spec.domains.assign(4, 2);
  spec.default_values.assign(4, 0);
  spec.cost = [](absl::Span<const int32_t> values) {
    return 1.0 + values[0] + values[2];
  };
  const testing::TableProblem problem(std::move(spec));
  std::vector<space::Trial> log;
  Search(problem, *Make(problem, {.seed = 3}), 100, log);
  auto choices = ChoicesOf(log);
  EXPECT_GE(choices.size(), 12);
  std::sort(choices.begin(), choices.end());
  EXPECT_EQ(std::adjacent_find(choices.begin(), choices.end()), choices.end());
}

TEST(Hdp, TheSameSeedProposesTheSame) {
  const auto problem = Chain(/*tight=*/false, /*others=*/2);
  std::vector<space::Trial> first, again, other;
  Search(*problem, *Make(*problem, {.seed = 4}), 60, first);
  Search(*problem, *Make(*problem, {.seed = 4}), 60, again);
  Search(*problem, *Make(*problem, {.seed = 5}), 60, other);
  EXPECT_EQ(ChoicesOf(again), ChoicesOf(first));
  EXPECT_NE(ChoicesOf(other), ChoicesOf(first));
}

TEST(Hdp, GoesOnFromTheLogOfAnotherSearch) {
  const auto problem = Chain(/*tight=*/false, /*others=*/2);
  std::vector<space::Trial> log;
  Search(*problem, *Make(*problem, {.seed = 6}), 33, log);
  std::vector<std::vector<space::Trial>> logs(2, log);
  for (std::vector<space::Trial>& further : logs) {
    const auto optimizer = Make(*problem, {.seed = 6});
    optimizer->Adopt(log);
    Search(*problem, *optimizer, 80, further);
    ASSERT_EQ(further.size(), 80);
  }
  auto choices = ChoicesOf(logs[0]);
  EXPECT_EQ(ChoicesOf(logs[1]), choices);
  // Nothing that the log has.
  std::sort(choices.begin(), choices.end());
  EXPECT_EQ(std::adjacent_find(choices.begin(), choices.end()), choices.end());
}

TEST(Hdp, StopsWhenItIsTold) {
  const auto problem = Chain(/*tight=*/false, /*others=*/2);
  bool stop = false;
  int polls = 0;
  OptimizerOptions options;
  options.stop = [&] {
    ++polls;
    return stop;
  };
  const auto optimizer = Make(*problem, options);
  std::vector<space::Trial> log;
  Search(*problem, *optimizer, 1, log);
  const std::vector<space::Candidate> batch = optimizer->Suggest(100);
  EXPECT_THAT(batch, Not(IsEmpty()));
  EXPECT_GT(polls, 0);
  stop = true;
  Search(*problem, *optimizer, 1000, log);
  EXPECT_EQ(log.size(), 1 + batch.size());
}

TEST(Hdp, ProposesNothingWhereNothingIsToBePlaced) {
  testing::TableProblem::Spec spec;
  spec.domains.assign(4, 1);
  spec.default_values.assign(4, 0);
  spec.cost = [](absl::Span<const int32_t>) { return 1.0; };
  const testing::TableProblem problem(std::move(spec));
  std::vector<space::Trial> log;
  Search(problem, *Make(problem, {}), 10, log);
  EXPECT_EQ(log.size(), 1);
}

}  // namespace
}  // namespace hone::optimizers::policies
