#include "learning/games/game.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "space/episode.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::learning {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pointwise;
using ::testing::SizeIs;

// DelayedReward: 0 → 1 → … → 5 by `forward`; `back` at 0 changes nothing.
constexpr int32_t kDecoy = 0;
constexpr int32_t kForward = 1;
constexpr int32_t kBack = 2;

class GameTest : public ::testing::Test {
 protected:
  GameState PlayAll(const std::vector<int32_t>& moves) const {
    GameState position = game_.Start();
    for (int32_t move : moves) {
      auto next = game_.Play(position, move);
      HONE_EXPECT_OK(next);
      position = *next;
    }
    return position;
  }

  const std::unique_ptr<space::Problem> problem_ = testing::DelayedReward();
  const Game game_{*problem_->sequential()};
};

TEST_F(GameTest, DoesNotOfferAgainWhatChangedNothing) {
  EXPECT_THAT(game_.Observe(game_.Start()).moves, Contains(kBack));
  GameState position = PlayAll({kBack});
  EXPECT_THAT(game_.Observe(position).moves, Not(Contains(kBack)));
  EXPECT_THAT(position.choices, IsEmpty());
  EXPECT_EQ(position.no_ops, 1);
  // Once the state is another, it may do something.
  position = PlayAll({kBack, kForward});
  EXPECT_THAT(game_.Observe(position).moves, Contains(kBack));
}

TEST_F(GameTest, ProposesTheWayToTheCheapestStatePassed) {
  // Costs 10, 11, 12, 12, 6, 2, then back to 6.
  const GameState position =
      PlayAll({kBack, kForward, kForward, kForward, kForward, kForward, kBack});
  EXPECT_EQ(position.cost, 6);
  EXPECT_EQ(position.best_cost, 2);
  EXPECT_EQ(position.best_moves, 6);
  EXPECT_THAT(game_.Proposal(position).choices,
              ElementsAre(kForward, kForward, kForward, kForward, kForward));
}

TEST_F(GameTest, RewardsAreThoseOfTheEpisode) {
  space::Episode episode(*problem_->sequential(),
                         problem_->sequential()->max_steps());
  GameState position = game_.Start();
  double total = 0;
  for (int i = 0; i < 5; ++i) {
    position = *game_.Play(position, kForward);
    HONE_ASSERT_OK_AND_ASSIGN(const space::EpisodeStep step,
                              episode.Step(kForward));
    EXPECT_EQ(position.reward, step.reward);
    total += position.reward;
  }
  EXPECT_NEAR(total, std::log(10.0 / 2), 1e-12);
}

TEST_F(GameTest, EndsWithStopAndAtTheLimit) {
  EXPECT_TRUE(PlayAll({kForward, kStopMove}).over());
  EXPECT_FALSE(PlayAll({kForward, kForward}).over());
  EXPECT_TRUE(PlayAll(std::vector<int32_t>(8, kForward)).over());
}

TEST_F(GameTest, ViewsHaveWhatTheSpecSays) {
  const GameSpec spec = game_.spec();
  const View view = game_.Observe(PlayAll({kForward}));
  EXPECT_EQ(view.moves.back(), kStopMove);
  EXPECT_EQ(view.kinds.back(), spec.move_kinds() - 1);
  EXPECT_THAT(view.kinds, SizeIs(view.moves.size()));
  EXPECT_THAT(view.focus, SizeIs(view.moves.size()));
  EXPECT_THAT(view.features, SizeIs(view.moves.size() *
                                    static_cast<size_t>(spec.move_features())));
  EXPECT_THAT(view.game_features, SizeIs(kGameFeatures));
}

// Weights are trained for these features in this order: of each move how often
// it was made, whether it was the last one with effect, how often it had
// effect, and the share of recent moves without effect.
TEST_F(GameTest, MoveFeaturesTellOfTheMovesBefore) {
  const auto log = [](float times) { return std::log2(1 + times) / 3; };
  // `back` has no effect at 0, nor has `decoy` at 1, which is left out there.
  const View view =
      game_.Observe(PlayAll({kBack, kForward, kForward, kBack, kDecoy}));
  EXPECT_THAT(view.moves, ElementsAre(kForward, kBack, kStopMove));
  EXPECT_THAT(view.features,
              Pointwise(FloatEq(), {log(2), 0.0F, log(2), 1.0F / 16,  //
                                    log(2), 1.0F, log(1), 1.0F / 16,  //
                                    0.0F, 0.0F, 0.0F, 1.0F / 16}));
  // Another state: the moves without effect are of the past.
  const View next = game_.Observe(
      PlayAll({kBack, kForward, kForward, kBack, kDecoy, kForward}));
  EXPECT_THAT(next.moves, ElementsAre(kDecoy, kForward, kBack, kStopMove));
  EXPECT_THAT(next.features,
              Pointwise(FloatEq(), {log(1), 0.0F, 0.0F, 0.0F,  //
                                    log(3), 1.0F, log(3), 0.0F, log(2), 0.0F,
                                    log(1), 0.0F, 0.0F, 0.0F, 0.0F, 0.0F}));
}

// Of the share of moves left, and of the current and the least cost relative to
// the start.
TEST_F(GameTest, GameFeaturesTellOfMovesLeftAndCosts) {
  EXPECT_THAT(game_.Observe(game_.Start()).game_features,
              Pointwise(FloatEq(), {1.0F, 1.0F, 1.0F}));
  // Costs 10, 11, 12, 12, 6, 2, then back to 6: six of eight moves.
  EXPECT_THAT(game_.Observe(PlayAll({kForward, kForward})).game_features,
              Pointwise(FloatEq(), {6.0F / 8, 12.0F / 10, 1.0F}));
  EXPECT_THAT(game_
                  .Observe(PlayAll({kForward, kForward, kForward, kForward,
                                    kForward, kBack}))
                  .game_features,
              Pointwise(FloatEq(), {2.0F / 8, 6.0F / 10, 2.0F / 10}));
}

TEST(Game, MoveFeaturesComeAfterThoseOfTheAction) {
  testing::IntegerProblem::Spec spec;
  spec.actions = {{"add1", [](int64_t n) { return n + 1; }},
                  {"add2", [](int64_t n) { return n + 2; }}};
  spec.cost = [](int64_t n) { return 100 - static_cast<double>(n); };
  spec.feature = [](int64_t state, int32_t action) {
    return static_cast<float>(10 * state + action);
  };
  const testing::IntegerProblem problem(std::move(spec));
  const Game game(problem);
  const View view = game.Observe(*game.Play(game.Start(), 1));
  EXPECT_THAT(view.features,
              Pointwise(FloatEq(), {20.0F, 0.0F, 0.0F, 0.0F, 0.0F, 21.0F,
                                    1.0F / 3, 1.0F, 1.0F / 3, 0.0F,
                                    // To stop has no description.
                                    0.0F, 0.0F, 0.0F, 0.0F, 0.0F}));
}

TEST(Game, KeepsInfiniteCostsFromThePolicy) {
  const auto problem = testing::InfiniteCosts();
  const Game game(*problem->sequential());
  GameState position = game.Start();
  for (int i = 0; i < 6 && !position.over(); ++i) {
    const View view = game.Observe(position);
    for (const float feature : view.game_features) {
      EXPECT_TRUE(std::isfinite(feature));
    }
    position = *game.Play(position, view.moves[0]);
    EXPECT_TRUE(std::isfinite(position.reward));
  }
}

TEST(Game, WithoutFreeCostsAsksForNone) {
  const auto problem = testing::ExpensiveCosts();
  const Game game(*problem->sequential());
  GameState position = game.Start();
  while (!position.over()) {
    position = *game.Play(position, game.Observe(position).moves[0]);
    EXPECT_EQ(position.reward, 0);
  }
  EXPECT_EQ(game.Proposal(position).choices, position.choices);
}

}  // namespace
}  // namespace hone::learning
