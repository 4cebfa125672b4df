#include "learning/games/game.h"

#include <cmath>
#include <memory>
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
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// DelayedReward: 0 → 1 → … → 5 by `forward`; `back` at 0 changes nothing.
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
