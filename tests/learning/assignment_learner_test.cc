// What a policy learns about moves.

#include "learning/assignment_learner.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include <torch/torch.h>

#include "learning/models/model.h"
#include "learning/networks/value_network.h"
#include "tests/support/ring_problem.h"

namespace hone::learning {
namespace {

using ::hone::testing::RingProblem;

class MoveLearnerTest : public ::testing::Test {
 protected:
  // A move of each variable, with what it really saves.
  std::vector<TriedMove> TriedMoves() const {
    std::vector<TriedMove> tried;
    for (int32_t v = 0; v < problem_.options().variables; ++v) {
      for (int32_t value = 1; value < problem_.options().values; ++value) {
        const std::vector<float> features =
            problem_.Describe(first_, {{v, value}});
        tried.push_back({{{{v, value}}, features}, 3 * features[1]});
      }
    }
    return tried;
  }

  std::vector<float> Scores(absl::Span<const DescribedMove> moves) const {
    // Encoded anew.
    std::shared_ptr<const AssignmentModel::Encoded> memory;
    return model_.ScoreMoves(view_, moves, memory);
  }
  float LogProbability(const std::vector<DescribedMove>& moves,
                       size_t chosen) const {
    std::vector<float> scores = Scores(moves);
    for (float& score : scores) score *= kMoveSharpness;
    return LogSoftmax(scores)[chosen];
  }

  // A choice as the policy makes it now.
  MoveChoice Choose(size_t chosen, float gain) const {
    MoveChoice choice;
    for (const TriedMove& tried : TriedMoves()) {
      choice.moves.push_back(tried.move);
    }
    choice.chosen = chosen;
    choice.log_probability = LogProbability(choice.moves, chosen);
    choice.gain = gain;
    return choice;
  }

  std::map<std::string, torch::Tensor> Weights() const {
    std::map<std::string, torch::Tensor> weights;
    for (const auto& parameter : model_.network()->named_parameters()) {
      weights[parameter.key()] = parameter.value().detach().clone();
    }
    return weights;
  }
  // The names of weights that differ, up to the first dot.
  std::map<std::string, int> ChangedSince(
      const std::map<std::string, torch::Tensor>& before) const {
    std::map<std::string, int> changed;
    for (const auto& [name, weights] : Weights()) {
      if (torch::equal(weights, before.at(name))) continue;
      ++changed[name.substr(0, name.find('.'))];
    }
    return changed;
  }

  const RingProblem problem_{{.variables = 10, .values = 4}};
  const ValueView view_{problem_};
  const std::vector<int32_t> first_ = problem_.DefaultCandidate().choices;
  AssignmentModel model_{
      SpecOf(problem_),
      {.width = 16, .layers = 2, .conditioning = true, .task_heads = true},
      1};
};

TEST_F(MoveLearnerTest, LearnsWhatMovesGain) {
  AssignmentLearner learner(model_, {}, 1);
  const std::vector<TriedMove> tried = TriedMoves();
  double first = 0;
  double last = 0;
  for (int i = 0; i < 150; ++i) {
    last = learner.FitGains(view_, tried, 3e-3F);
    if (i == 0) first = last;
  }
  EXPECT_LT(last, first / 20);
  // A move that saves much is first of others that were never seen.
  std::vector<DescribedMove> moves;
  for (int32_t v = 0; v < 9; ++v) {
    moves.push_back(
        {{{v, 1}, {v + 1, 1}}, {0.1F * static_cast<float>(v), -0.5F, 1}});
  }
  moves[6].features[1] = 0.9F;
  const std::vector<float> scores = Scores(moves);
  EXPECT_EQ(std::max_element(scores.begin(), scores.end()) - scores.begin(), 6);
}

TEST_F(MoveLearnerTest, LearnsNothingFromNothing) {
  AssignmentLearner learner(model_, {}, 1);
  const auto before = Weights();
  EXPECT_EQ(learner.FitGains(view_, {}, 1e-2F), 0);
  EXPECT_EQ(learner.UpdateMoves(view_, {}).policy_loss, 0);
  // A choice by itself is not better than any other.
  learner.UpdateMoves(view_, {Choose(0, 6)});
  EXPECT_TRUE(ChangedSince(before).empty());
}

TEST_F(MoveLearnerTest, PrefersMovesThatGainedMore) {
  AssignmentLearner learner(model_, {.entropy_weight = 0}, 1);
  const std::vector<DescribedMove> moves = Choose(0, 0).moves;
  const double before = std::exp(LogProbability(moves, 7));
  for (int i = 0; i < 40; ++i) {
    learner.UpdateMoves(view_, {Choose(2, 0), Choose(7, 3), Choose(11, -1)});
  }
  EXPECT_NEAR(before, 1.0 / 30, 1e-4);
  EXPECT_GT(std::exp(LogProbability(moves, 7)), 10 * before);
  EXPECT_LT(std::exp(LogProbability(moves, 11)), before);
}

TEST_F(MoveLearnerTest, ChoicesMayHaveAnyNumberOfMoves) {
  AssignmentLearner learner(model_, {.entropy_weight = 0}, 1);
  const std::vector<DescribedMove> all = Choose(0, 0).moves;
  const auto choose = [&](size_t first, size_t count, size_t chosen,
                          float gain) {
    MoveChoice choice;
    choice.moves.assign(
        all.begin() + static_cast<std::ptrdiff_t>(first),
        all.begin() + static_cast<std::ptrdiff_t>(first + count));
    choice.chosen = chosen;
    choice.log_probability = LogProbability(choice.moves, chosen);
    choice.gain = gain;
    return choice;
  };
  for (int i = 0; i < 40; ++i) {
    const AssignmentPpoStatistics statistics =
        learner.UpdateMoves(view_, {choose(0, 3, 1, 2), choose(0, 3, 0, 0),
                                    choose(3, 1, 0, 1), choose(4, 20, 5, 0)});
    EXPECT_TRUE(std::isfinite(statistics.policy_loss));
    EXPECT_TRUE(std::isfinite(statistics.entropy));
  }
  EXPECT_GT(std::exp(LogProbability({all[0], all[1], all[2]}, 1)), 0.8);
}

TEST_F(MoveLearnerTest, EqualGainsChangeNothing) {
  AssignmentLearner learner(model_, {.entropy_weight = 0}, 1);
  const auto before = Weights();
  learner.UpdateMoves(view_, {Choose(2, 1), Choose(7, 1)});
  EXPECT_TRUE(ChangedSince(before).empty());
}

TEST_F(MoveLearnerTest, ClipsEachChoiceByItself) {
  AssignmentLearner learner(model_, {.epochs = 1, .entropy_weight = 0}, 1);
  // More likely by far than when it was chosen well, and the other way round.
  MoveChoice good = Choose(2, 3);
  good.log_probability -= 1;
  MoveChoice bad = Choose(7, 0);
  bad.log_probability += 1;
  const auto before = Weights();
  learner.UpdateMoves(view_, {good, bad});
  EXPECT_TRUE(ChangedSince(before).empty());
  // Beside one that is not clipped, that one counts alone.
  const float of_good = LogProbability(good.moves, 2);
  const float of_other = LogProbability(good.moves, 12);
  MoveChoice other = Choose(12, 3);
  learner.UpdateMoves(view_, {good, bad, other});
  EXPECT_FALSE(ChangedSince(before).empty());
  EXPECT_GT(LogProbability(good.moves, 12), of_other);
  EXPECT_LT(LogProbability(good.moves, 2), of_good + 0.01F);
}

TEST_F(MoveLearnerTest, MayKeepTheEncoderAsItIs) {
  const auto before = Weights();
  {
    AssignmentLearner learner(model_, {.heads_only = true}, 1);
    for (int i = 0; i < 10; ++i) {
      learner.FitGains(view_, TriedMoves(), 1e-2F);
      learner.UpdateMoves(view_, {Choose(2, 0), Choose(7, 3)});
    }
  }
  const std::map<std::string, int> heads = ChangedSince(before);
  EXPECT_EQ(heads.count("encoder"), 0u);
  EXPECT_EQ(heads.count("task_heads"), 0u);
  for (const char* head : {"value_node", "value_number", "move_features",
                           "move_hidden", "move_score", "conditioning"}) {
    EXPECT_EQ(heads.count(head), 1u) << head;
  }
  AssignmentLearner learner(model_, {}, 1);
  learner.FitGains(view_, TriedMoves(), 1e-2F);
  EXPECT_EQ(ChangedSince(before).count("encoder"), 1u);
  EXPECT_EQ(ChangedSince(before).count("task_heads"), 1u);
}

// A search encodes its graph once.
TEST_F(MoveLearnerTest, WhatWasEncodedStaysValidWithTheEncoder) {
  AssignmentLearner learner(model_, {.heads_only = true}, 1);
  const std::vector<DescribedMove> moves = Choose(0, 0).moves;
  std::shared_ptr<const AssignmentModel::Encoded> memory;
  const std::vector<float> first = model_.ScoreMoves(view_, moves, memory);
  for (int i = 0; i < 5; ++i) learner.FitGains(view_, TriedMoves(), 1e-2F);
  const std::vector<float> last = model_.ScoreMoves(view_, moves, memory);
  EXPECT_NE(last, first);
  EXPECT_EQ(last, Scores(moves));
}

TEST_F(MoveLearnerTest, IsDeterministic) {
  const auto learned = [&] {
    AssignmentModel model(SpecOf(problem_), {.width = 8, .layers = 1}, 2);
    AssignmentLearner learner(model, {}, 3);
    for (int i = 0; i < 3; ++i) {
      learner.FitGains(view_, TriedMoves(), 1e-2F);
      learner.UpdateMoves(view_, {Choose(2, 0), Choose(7, 3)});
    }
    return model.Serialize();
  };
  EXPECT_TRUE(learned() == learned());
}

}  // namespace
}  // namespace hone::learning
