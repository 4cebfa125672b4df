#include "optimizers/policies/move_walk.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "learning/assignment_learner.h"
#include "tests/support/ring_problem.h"

namespace hone::optimizers::policies {
namespace {

using ::hone::testing::RingProblem;
using learning::AssignmentModel;
using learning::ValueView;

// A policy that has learned what moves from the default gain.
void Teach(const RingProblem& problem, AssignmentModel& model) {
  const std::vector<int32_t> from = problem.DefaultCandidate().choices;
  std::vector<learning::TriedMove> tried;
  for (int32_t v = 0; v < problem.options().variables; ++v) {
    for (int32_t value = 1; value < problem.options().values; ++value) {
      const std::vector<float> features = problem.Describe(from, {{v, value}});
      tried.push_back({{{{v, value}}, features}, 3 * features[1]});
    }
  }
  learning::AssignmentLearner learner(model, {}, 1);
  const ValueView view(problem);
  for (int i = 0; i < 100; ++i) learner.FitGains(view, tried, 3e-3F);
}

using Values = std::vector<int32_t>;
using Move = std::set<std::pair<int32_t, int32_t>>;

Values ValuesOf(const MoveWalk& walk) {
  return {walk.values().begin(), walk.values().end()};
}

// Walks `tries`, or to the end.
int Walk(MoveWalk& walk, int tries, const AssignmentModel* model = nullptr) {
  int made = 0;
  while (made < tries) {
    const int now = walk.Round(model);
    if (now == 0) break;
    EXPECT_LE(now, MoveWalk::kTriesPerRound);
    made += now;
  }
  return made;
}

TEST(MoveWalk, CountsEachTryAndKeepsTheBest) {
  const RingProblem problem({.variables = 12, .values = 5});
  const ValueView view(problem);
  MoveWalk walk(problem, view, 1);
  walk.Restart(problem.DefaultCandidate().choices);
  EXPECT_FALSE(walk.has_found());
  double best = problem.Cost(problem.DefaultCandidate().choices);
  int64_t made = 0;
  for (int i = 0; i < 200; ++i) {
    const Values before = ValuesOf(walk);
    made += walk.Round(nullptr);
    // Proposals and descriptions take nothing.
    ASSERT_EQ(problem.evaluations(), made);
    EXPECT_NEAR(walk.score().rank.cost, problem.Cost(walk.values()), 1e-9);
    if (ValuesOf(walk) == before) continue;
    best = std::min(best, problem.Cost(walk.values()));
    ASSERT_TRUE(walk.has_found());
  }
  EXPECT_NEAR(walk.found_rank().cost, problem.Cost(walk.found()), 1e-9);
  EXPECT_NEAR(walk.found_rank().cost, best, 1e-9);
  walk.ClearFound();
  EXPECT_FALSE(walk.has_found());
}

// The logarithm of the probability that the softmax of `scores` chooses one.
double LogSoftmax(const std::vector<double>& scores, size_t chosen) {
  double sum = 0;
  for (const double score : scores) sum += std::exp(score - scores[chosen]);
  return -std::log(sum);
}

TEST(MoveWalk, DrawsByTheEstimateAndThePolicy) {
  const RingProblem problem(
      {.variables = 12, .values = 5, .seed = 3, .estimate = 6});
  const ValueView view(problem);
  AssignmentModel model(learning::SpecOf(problem), {.width = 8, .layers = 1},
                        1);
  Teach(problem, model);
  std::shared_ptr<const AssignmentModel::Encoded> memory;
  const auto expect = [&](const AssignmentModel* policy,
                          MoveWalkOptions options, const auto& score) {
    MoveWalk walk(problem, view, 2, options);
    walk.Restart(problem.DefaultCandidate().choices);
    for (int i = 0; i < 20; ++i) walk.Round(policy);
    const std::vector<learning::MoveChoice> choices = walk.TakeChoices();
    EXPECT_EQ(choices.size(), 20u);
    for (const learning::MoveChoice& choice : choices) {
      EXPECT_NEAR(double{choice.log_probability},
                  LogSoftmax(score(choice.moves), choice.chosen), 1e-4);
    }
  };
  using Moves = std::vector<learning::DescribedMove>;
  expect(nullptr, {}, [](const Moves& moves) {
    std::vector<double> scores;
    for (const auto& move : moves) {
      scores.push_back(6 * double{move.features[1]});
    }
    return scores;
  });
  expect(nullptr, {.uniform = true},
         [](const Moves& moves) { return std::vector<double>(moves.size()); });
  expect(&model, {}, [&](const Moves& moves) {
    const std::vector<float> gains = model.ScoreMoves(view, moves, memory);
    std::vector<double> scores;
    for (size_t i = 0; i < moves.size(); ++i) {
      scores.push_back(double{learning::kMoveSharpness} * double{gains[i]} +
                       6 * double{moves[i].features[1]});
    }
    return scores;
  });
}

TEST(MoveWalk, LeavesOutTheEstimateIfItIsToldTo) {
  const RingProblem estimated(
      {.variables = 12, .values = 5, .seed = 3, .estimate = 6});
  const RingProblem plain({.variables = 12, .values = 5, .seed = 3});
  AssignmentModel model(learning::SpecOf(plain), {.width = 8, .layers = 1}, 1);
  Teach(plain, model);
  const auto result = [](const RingProblem& problem,
                         const AssignmentModel* policy, bool without_estimate) {
    const ValueView view(problem);
    MoveWalk walk(problem, view, 2, {.without_estimate = without_estimate});
    walk.Restart(problem.DefaultCandidate().choices);
    for (int i = 0; i < 20; ++i) walk.Round(policy);
    return std::make_pair(ValuesOf(walk), walk.TakeChoices());
  };
  for (const AssignmentModel* policy :
       {static_cast<const AssignmentModel*>(&model),
        static_cast<const AssignmentModel*>(nullptr)}) {
    // As where the problem has none.
    const auto [values, choices] = result(estimated, policy, true);
    const auto [expected_values, expected] = result(plain, policy, false);
    EXPECT_EQ(values, expected_values);
    ASSERT_EQ(choices.size(), expected.size());
    for (size_t i = 0; i < choices.size(); ++i) {
      EXPECT_EQ(choices[i].chosen, expected[i].chosen);
      EXPECT_EQ(choices[i].log_probability, expected[i].log_probability);
      ASSERT_EQ(choices[i].moves.size(), expected[i].moves.size());
      for (size_t m = 0; m < choices[i].moves.size(); ++m) {
        EXPECT_EQ(choices[i].moves[m].estimate, 0);
        // Moves are described all the same.
        EXPECT_EQ(choices[i].moves[m].features, expected[i].moves[m].features);
        EXPECT_FALSE(choices[i].moves[m].features.empty());
      }
    }
    const auto [with_values, with] = result(estimated, policy, false);
    EXPECT_NE(with_values, values);
  }
}

// PPO takes the probabilities that moves were drawn with for those of the
// policy that drew them: nothing is clipped, and advantages cancel.
TEST(MoveWalk, ChoicesHaveTheProbabilitiesThatLearningExpects) {
  const RingProblem problem(
      {.variables = 12, .values = 5, .seed = 3, .estimate = 6});
  const ValueView view(problem);
  AssignmentModel model(learning::SpecOf(problem), {.width = 8, .layers = 1},
                        1);
  Teach(problem, model);
  MoveWalk walk(problem, view, 2);
  walk.Restart(problem.DefaultCandidate().choices);
  for (int i = 0; i < 40; ++i) walk.Round(&model);
  learning::AssignmentLearner learner(model, {.epochs = 1}, 1);
  EXPECT_NEAR(learner.UpdateMoves(view, walk.TakeChoices()).policy_loss, 0,
              1e-4);
}

TEST(MoveWalk, TriesNoMoveTwiceFromAnAssignmentBeforeTheOthers) {
  // So few moves that chance alone would repeat them often: a new value for
  // each variable, or the same one for two neighbors.
  const RingProblem problem({.variables = 5, .values = 3});
  const ValueView view(problem);
  AssignmentModel model(learning::SpecOf(problem), {.width = 8, .layers = 1},
                        1);
  Teach(problem, model);
  int64_t repeated = 0;
  for (const AssignmentModel* policy :
       {static_cast<const AssignmentModel*>(&model),
        static_cast<const AssignmentModel*>(nullptr)}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      MoveWalk walk(problem, view, seed);
      walk.Restart(problem.DefaultCandidate().choices);
      const size_t first = problem.tries().size();
      // Less than a cycle, whose end goes back to the best.
      EXPECT_GE(Walk(walk, 500, policy), 500);
      Values from;
      std::set<Move> tried;
      for (size_t i = first; i < problem.tries().size(); ++i) {
        const RingProblem::Attempt& attempt = problem.tries()[i];
        if (attempt.from != from) tried.clear();
        from = attempt.from;
        Move move;
        for (const space::Change& change : attempt.changes) {
          move.emplace(change.variable, change.value);
        }
        if (tried.insert(move).second) continue;
        // There were hardly any others.
        ++repeated;
        ASSERT_GE(tried.size(), 10u) << "seed " << seed;
        tried = {move};
      }
    }
  }
  EXPECT_GT(repeated, 100);
}

// As many moves at first as it may, then half of them after each try that
// gained nothing, and twice as many after one that did.
TEST(MoveWalk, TakesSeveralMovesWhileThatGains) {
  constexpr size_t kMost = 8;
  const RingProblem problem({.variables = 60, .values = 8});
  const ValueView view(problem);
  MoveWalk walk(problem, view, 1, {.moves_per_try = static_cast<int>(kMost)});
  walk.Restart(problem.DefaultCandidate().choices);
  for (int i = 0; i < 60; ++i) walk.Round(nullptr);
  size_t most = kMost;
  size_t several = 0;
  for (const RingProblem::Attempt& attempt : problem.tries()) {
    std::set<int32_t> variables;
    Values after = attempt.from;
    for (const space::Change& change : attempt.changes) {
      EXPECT_TRUE(variables.insert(change.variable).second);
      after[static_cast<size_t>(change.variable)] = change.value;
    }
    // A move of this problem changes one or two variables.
    EXPECT_LE(attempt.changes.size(), 2 * most);
    if (attempt.changes.size() > 2) ++several;
    const bool gains = problem.Cost(after) < problem.Cost(attempt.from);
    most = gains ? std::min(2 * most, kMost) : std::max<size_t>(most / 2, 1);
  }
  EXPECT_GE(several, 3u);
  // What several moves gain together is not taken for the gain of one.
  for (const learning::TriedMove& tried : walk.TakeTried()) {
    EXPECT_LE(tried.move.changes.size(), 2u);
  }
}

TEST(MoveWalk, EndsWithoutProposals) {
  const RingProblem problem({.proposes = false});
  const ValueView view(problem);
  MoveWalk walk(problem, view, 1);
  walk.Restart(problem.DefaultCandidate().choices);
  EXPECT_EQ(walk.Round(nullptr), 0);
  EXPECT_FALSE(walk.has_found());
  EXPECT_EQ(problem.evaluations(), 0);
  EXPECT_TRUE(walk.TakeTried().empty());
  EXPECT_TRUE(walk.TakeChoices().empty());
}

TEST(MoveWalk, TellsWhatItTriedAndChose) {
  const RingProblem problem({.variables = 12, .values = 5});
  const ValueView view(problem);
  AssignmentModel model(learning::SpecOf(problem), {.width = 8, .layers = 1},
                        1);
  Teach(problem, model);
  MoveWalk walk(problem, view, 3);
  walk.Restart(problem.DefaultCandidate().choices);
  for (int round = 0; round < 30; ++round) {
    const Values from = ValuesOf(walk);
    const double before = problem.Cost(from);
    const int made = walk.Round(&model);
    const std::vector<learning::TriedMove> tried = walk.TakeTried();
    const std::vector<learning::MoveChoice> choices = walk.TakeChoices();
    ASSERT_EQ(tried.size(), static_cast<size_t>(made));
    for (const learning::TriedMove& move : tried) {
      Values after = from;
      for (const space::Change& change : move.move.changes) {
        after[static_cast<size_t>(change.variable)] = change.value;
      }
      const double saved = (before - problem.Cost(after)) / before;
      const double gain = saved > 0 ? std::min(std::log(1 + 4000 * saved), 6.0)
                                    : std::max(1000 * saved, -0.3);
      EXPECT_NEAR(move.gain, gain, 1e-3);
      EXPECT_EQ(move.move.features, problem.Describe(from, move.move.changes));
    }
    ASSERT_EQ(choices.size(), 1u);
    const learning::MoveChoice& choice = choices[0];
    EXPECT_LE(choice.moves.size(), size_t{MoveWalk::kProposals});
    EXPECT_EQ(choice.moves[choice.chosen].changes, tried[0].move.changes);
    EXPECT_EQ(choice.gain, tried[0].gain);
    // The softmax of what the policy expects.
    std::shared_ptr<const AssignmentModel::Encoded> memory;
    std::vector<float> scores = model.ScoreMoves(view, choice.moves, memory);
    double sum = 0;
    for (const float score : scores) {
      sum +=
          std::exp(learning::kMoveSharpness * (score - scores[choice.chosen]));
    }
    EXPECT_NEAR(choice.log_probability, -std::log(sum), 1e-3);
  }
  EXPECT_TRUE(walk.TakeTried().empty());
}

TEST(MoveWalk, DrawsWhatGainsUnlessItIsToldNotTo) {
  const RingProblem problem({.variables = 60, .values = 8});
  const ValueView view(problem);
  AssignmentModel model(learning::SpecOf(problem), {.width = 16, .layers = 1},
                        1);
  Teach(problem, model);
  const auto cost_after = [&](const AssignmentModel* policy, double uniform) {
    double sum = 0;
    for (uint64_t seed = 0; seed < 5; ++seed) {
      MoveWalk walk(problem, view, seed);
      walk.Restart(problem.DefaultCandidate().choices);
      for (int i = 0; i < 50; ++i) walk.Round(policy, uniform);
      sum += walk.found_rank().cost / 5;
    }
    return sum;
  };
  const double by_policy = cost_after(&model, 0);
  const double at_random = cost_after(nullptr, 0);
  EXPECT_LT(by_policy, 0.9 * at_random);
  // Of uniform draws none asks the policy.
  EXPECT_NEAR(cost_after(&model, 1), at_random, 0.07 * at_random);
}

TEST(MoveWalk, MayForgetAModelThatHasChanged) {
  const RingProblem problem({.variables = 12, .values = 5});
  const ValueView view(problem);
  AssignmentModel model(learning::SpecOf(problem), {.width = 8, .layers = 1},
                        1);
  Teach(problem, model);
  const auto choice_after = [&](bool forget) {
    AssignmentModel changing(model.spec(), model.options(), 2);
    changing.CopyWeights(model);
    MoveWalk walk(problem, view, 5);
    walk.Restart(problem.DefaultCandidate().choices);
    walk.Round(&changing);
    walk.TakeChoices();
    // Another encoder.
    Teach(problem, changing);
    if (forget) walk.ForgetModel();
    walk.Round(&changing);
    const learning::MoveChoice choice = walk.TakeChoices()[0];
    std::shared_ptr<const AssignmentModel::Encoded> memory;
    const std::vector<float> scores =
        changing.ScoreMoves(view, choice.moves, memory);
    double sum = 0;
    for (const float score : scores) {
      sum +=
          std::exp(learning::kMoveSharpness * (score - scores[choice.chosen]));
    }
    return std::abs(choice.log_probability + std::log(sum));
  };
  EXPECT_LT(choice_after(true), 1e-4);
  EXPECT_GT(choice_after(false), 1e-4);
}

TEST(MoveWalk, IsDeterministicBySeed) {
  const RingProblem problem({.variables = 12, .values = 5});
  const ValueView view(problem);
  const auto end = [&](uint64_t seed) {
    MoveWalk walk(problem, view, seed);
    walk.Restart(problem.DefaultCandidate().choices);
    Walk(walk, 300);
    return ValuesOf(walk);
  };
  EXPECT_EQ(end(1), end(1));
  EXPECT_NE(end(1), end(2));
}

}  // namespace
}  // namespace hone::optimizers::policies
