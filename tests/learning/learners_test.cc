// What learners make of a network that is told one thing over and over.

#include <cmath>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "learning/assignment_learner.h"
#include "learning/dqn_learner.h"
#include "learning/games/tried_moves.h"
#include "learning/ppo_learner.h"
#include "tests/support/toy_problems.h"

namespace hone::learning {
namespace {

constexpr int32_t kForward = 1;

class LearnersTest : public ::testing::Test {
 protected:
  // A game of one turn at the start that chose `chosen` and was paid `reward`.
  Trajectory OneTurn(int32_t chosen, float reward) const {
    Trajectory episode(game_.Start());
    Turn turn;
    turn.view = view_;
    turn.chosen = chosen;
    turn.reward = reward;
    turn.log_probability = LogSoftmax(Scores())[static_cast<size_t>(chosen)];
    episode.turns.push_back(std::move(turn));
    return episode;
  }
  std::vector<float> Scores() const {
    const View* const views[] = {view_.get()};
    return model_.Score(views)[0].scores;
  }
  double Probability(size_t move) const {
    return std::exp(static_cast<double>(LogSoftmax(Scores())[move]));
  }

  const std::unique_ptr<space::Problem> problem_ = testing::DelayedReward();
  const Game game_{*problem_->sequential()};
  const std::shared_ptr<const View> view_ =
      std::make_shared<const View>(game_.Observe(game_.Start()));
  Model model_{game_.spec(), EncoderOptions{}, 1};
};

TEST_F(LearnersTest, PpoPrefersWhatPaidMore) {
  PpoLearner learner(model_, {.entropy_weight = 0}, 1);
  for (int i = 0; i < 20; ++i) {
    const std::vector<TrajectoryGroup> groups = {
        {OneTurn(0, 0), OneTurn(kForward, 1), OneTurn(2, 0)}};
    learner.Update(groups, {});
  }
  EXPECT_GT(Probability(kForward), 0.8);
}

TEST_F(LearnersTest, PpoOfTiesChangesNothingButTheValue) {
  PpoLearner learner(model_, {.entropy_weight = 0, .value_weight = 0}, 1);
  const std::vector<float> before = Scores();
  const std::vector<TrajectoryGroup> groups = {
      {OneTurn(0, 0), OneTurn(kForward, 0), OneTurn(2, 0)}};
  learner.Update(groups, {});
  EXPECT_EQ(Scores(), before);
}

TEST_F(LearnersTest, PpoMayImitateBeside) {
  PpoLearner learner(model_, {.imitation_weight = 1}, 1);
  Turn elite;
  elite.view = view_;
  elite.chosen = 2;
  for (int i = 0; i < 20; ++i) {
    const std::vector<TrajectoryGroup> groups = {
        {OneTurn(0, 0), OneTurn(1, 0), OneTurn(2, 0)}};
    learner.Update(groups, {&elite, 1});
  }
  EXPECT_GT(Probability(2), 0.8);
  // A weight of 0 imitates nothing.
  Model other(game_.spec(), EncoderOptions{}, 1);
  PpoLearner without(
      other, {.entropy_weight = 0, .value_weight = 0, .imitation_weight = 0},
      1);
  const View* const views[] = {view_.get()};
  const std::vector<float> before = other.Score(views)[0].scores;
  const std::vector<TrajectoryGroup> ties = {{OneTurn(0, 0), OneTurn(1, 0)}};
  without.Update(ties, {&elite, 1});
  EXPECT_EQ(other.Score(views)[0].scores, before);
}

TEST_F(LearnersTest, LabelsTeachWhatPaysAtOnce) {
  PpoLearner learner(model_, {}, 1);
  MoveLabels labels;
  labels.view = view_;
  labels.changes = {true, true, false};
  labels.rewards = {-0.1F, 0.1F, 0};
  LabelStatistics first, last;
  for (int i = 0; i < 60; ++i) {
    last = learner.LearnLabels({&labels, 1}, 1, 3e-3F);
    if (i == 0) first = last;
  }
  EXPECT_GT(Probability(1), 0.9);
  EXPECT_LT(last.change_loss, first.change_loss / 4);
  EXPECT_LT(last.reward_loss, first.reward_loss / 4);
}

TEST_F(LearnersTest, LabelsCompareOnlyWhatWasTried) {
  PpoLearner learner(model_, {}, 1);
  MoveLabels labels;
  labels.view = view_;
  labels.tried = {true, false, true};
  labels.changes = {true, false, false};
  labels.rewards = {0.1F, 0, 0};
  LabelStatistics first, last;
  for (int i = 0; i < 60; ++i) {
    last = learner.LearnLabels({&labels, 1}, 1, 3e-3F);
    if (i == 0) first = last;
  }
  EXPECT_LT(last.choice_loss, first.choice_loss / 4);
  EXPECT_GT(Scores()[0], Scores()[2] + 2);
  // One move alone says nothing about the choice.
  labels.tried = {true, false, false};
  EXPECT_NEAR(learner.LearnLabels({&labels, 1}, 1, 0).choice_loss, 0, 1e-6);
}

TEST(TriedMoves, KnowByStateWhatMovesDid) {
  const auto problem = testing::DelayedReward();
  const Game game(*problem->sequential());
  // `back` changes nothing at the start; the first step forward costs.
  const auto episode = ReplayMoves(game, {2, kForward, kForward});
  ASSERT_TRUE(episode.ok());
  TriedMoves tried;
  tried.Add(episode->turns);
  Rng rng(1);
  const std::vector<MoveLabels> labels = tried.Draw(10, rng);
  // Of the second state only one move is known.
  ASSERT_EQ(labels.size(), 1u);
  EXPECT_THAT(labels[0].tried, ::testing::ElementsAre(false, true, true));
  EXPECT_THAT(labels[0].changes, ::testing::ElementsAre(false, true, false));
  EXPECT_LT(labels[0].rewards[1], 0);
  EXPECT_TRUE(tried.Draw(0, rng).empty());
}

TEST(TriedMoves, JoinViewsThatLeaveOutDifferentMoves) {
  const auto problem = testing::DelayedReward();
  const Game game(*problem->sequential());
  // `back` is tried in vain, so that the second view lacks it.
  const auto vain = ReplayMoves(game, {2, kForward});
  ASSERT_TRUE(vain.ok());
  TriedMoves tried;
  Rng rng(1);
  tried.Add(absl::MakeConstSpan(vain->turns).subspan(1));
  EXPECT_TRUE(tried.Draw(10, rng).empty());
  // Of another game, so that nothing but the state is the same.
  const Game other(*problem->sequential());
  const auto again = ReplayMoves(other, {2, 0});
  ASSERT_TRUE(again.ok());
  tried.Add(again->turns);
  const std::vector<MoveLabels> labels = tried.Draw(10, rng);
  ASSERT_EQ(labels.size(), 1u);
  EXPECT_THAT(labels[0].tried, ::testing::ElementsAre(true, true, true));
  EXPECT_THAT(labels[0].changes, ::testing::ElementsAre(true, true, false));
}

TEST(TriedMoves, ForgetWhatTakesTooMuchMemory) {
  const auto problem = testing::DelayedReward();
  const Game game(*problem->sequential());
  Rng rng(1);
  // Two moves in the first state, one in the second.
  const auto episode = ReplayMoves(game, {2, kForward, kForward});
  ASSERT_TRUE(episode.ok());
  TriedMoves none(0);
  none.Add(episode->turns);
  EXPECT_TRUE(none.Draw(10, rng).empty());
}

TEST_F(LearnersTest, DqnLearnsTheValuesOfMoves) {
  DqnLearner learner(model_, {.learning_rate = 3e-3F}, 1);
  for (int32_t move = 0; move < 3; ++move) {
    learner.Remember(OneTurn(move, static_cast<float>(move) / 2));
  }
  learner.Update(400);
  for (size_t move = 0; move < 3; ++move) {
    EXPECT_NEAR(Scores()[move], static_cast<float>(move) / 2, 0.1);
  }
}

TEST(AssignmentLearner, PrefersTheValuesThatPaidMore) {
  testing::TableProblem::Spec spec;
  spec.domains = {3, 3};
  spec.default_values = {0, 0};
  const testing::TableProblem problem(std::move(spec));
  const ValueView view(problem);
  AssignmentModel model(SpecOf(problem), EncoderOptions{}, 1);
  AssignmentLearner learner(model, {.entropy_weight = 0, .imitation_weight = 0},
                            1);
  const std::vector<int32_t> before = {0, 0};
  const auto probability = [&](int32_t variable, size_t value) {
    const std::vector<float> scores = model.Score(view, before);
    const size_t first = view.first_score(variable);
    return std::exp(
        LogSoftmax(absl::MakeConstSpan(scores).subspan(first, 3))[value]);
  };
  for (int i = 0; i < 30; ++i) {
    std::vector<AssignmentSample> samples;
    std::vector<float> rewards;
    for (int32_t value = 0; value < 3; ++value) {
      // Variable 1 was decided by the constraints.
      samples.push_back(
          {{value, 2},
           {0b111, 0},
           {std::log(probability(0, static_cast<size_t>(value))), 0}});
      rewards.push_back(value == 1 ? 1 : 0);
    }
    learner.Update(view, before, 0, samples, rewards, 0);
  }
  EXPECT_GT(probability(0, 1), 0.8);
}

TEST(AssignmentLearner, VariablesThatWereForcedCarryNoGradient) {
  testing::TableProblem::Spec spec;
  spec.domains = {3, 3};
  spec.default_values = {0, 0};
  const testing::TableProblem problem(std::move(spec));
  const ValueView view(problem);
  AssignmentModel model(SpecOf(problem), EncoderOptions{}, 1);
  AssignmentLearner learner(model, {}, 1);
  const std::vector<int32_t> before = {0, 0};
  const std::vector<float> scores = model.Score(view, before);
  const std::vector<AssignmentSample> samples = {{{1, 2}, {0, 0b100}, {0, 0}},
                                                 {{2, 2}, {0, 0b100}, {0, 0}}};
  learner.Update(view, before, 0, samples, std::vector<float>{0, 1}, 0);
  EXPECT_EQ(model.Score(view, before), scores);
}

// Beside a variable that was drawn, too.
TEST(AssignmentLearner, WhatForcedVariablesBecameDoesNotMatter) {
  testing::TableProblem::Spec spec;
  spec.domains = {3, 3};
  spec.default_values = {0, 0};
  const testing::TableProblem problem(std::move(spec));
  const ValueView view(problem);
  const std::vector<int32_t> before = {0, 0};
  const auto learned = [&](int32_t forced) {
    AssignmentModel model(SpecOf(problem), EncoderOptions{}, 1);
    AssignmentLearner learner(model, {}, 1);
    const float log_probability = std::log(1.0F / 3);
    std::vector<AssignmentSample> samples;
    for (int32_t value = 0; value < 3; ++value) {
      samples.push_back({{value, forced}, {0b111, 0}, {log_probability, 0}});
    }
    learner.Update(view, before, 0, samples, std::vector<float>{0, 1, 0}, 0);
    return model.Score(view, before);
  };
  const std::vector<float> scores = learned(1);
  EXPECT_EQ(learned(2), scores);
  // It has learned something.
  EXPECT_NE(scores[0], scores[1]);
}

}  // namespace
}  // namespace hone::learning
