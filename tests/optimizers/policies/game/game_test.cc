#include "optimizers/policies/game/game.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::optimizers::policies {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// DelayedReward: 0 → 1 → … → 5 by `forward`; `back` at 0 changes nothing.
constexpr int32_t kForward = 1;
constexpr int32_t kBack = 2;
constexpr int32_t kStop = 3;

GameState PlayAll(const Game& game, const std::vector<int32_t>& moves) {
  GameState position = game.Start();
  for (int32_t move : moves) {
    auto next = game.Play(position, move);
    HONE_EXPECT_OK(next);
    position = *next;
  }
  return position;
}

TEST(SequentialGame, DoesNotOfferAgainWhatChangedNothing) {
  const auto problem = testing::DelayedReward();
  const auto game = Game::Make(*problem);
  EXPECT_THAT(game->Observe(game->Start()).moves, Contains(kBack));
  GameState position = PlayAll(*game, {kBack});
  EXPECT_THAT(game->Observe(position).moves, Not(Contains(kBack)));
  EXPECT_THAT(position.choices, IsEmpty());
  // Once the state is another, it may do something.
  position = PlayAll(*game, {kBack, kForward});
  EXPECT_THAT(game->Observe(position).moves, Contains(kBack));
}

TEST(SequentialGame, ProposesTheWayToTheCheapestStatePassed) {
  const auto problem = testing::DelayedReward();
  const auto game = Game::Make(*problem);
  // Costs 10, 11, 12, 12, 6, 2, then back to 6.
  const GameState position =
      PlayAll(*game, {kForward, kForward, kForward, kForward, kForward, kBack});
  EXPECT_EQ(position.cost, 6);
  EXPECT_EQ(position.best_cost, 2);
  EXPECT_THAT(game->Proposal(position).choices,
              ElementsAre(kForward, kForward, kForward, kForward, kForward));
}

TEST(SequentialGame, RewardsAddUpToTheDropLessTheMoves) {
  const auto problem = testing::DelayedReward();
  const auto game = Game::Make(*problem);
  double total = 0;
  GameState position = game->Start();
  for (int i = 0; i < 5; ++i) {
    position = *game->Play(position, kForward);
    total += position.reward;
  }
  EXPECT_NEAR(total, 0.8, 0.01);
  EXPECT_LT(total, 0.8);
}

TEST(SequentialGame, EndsWithStopAndAtTheLimit) {
  const auto problem = testing::DelayedReward();
  const auto game = Game::Make(*problem);
  EXPECT_TRUE(PlayAll(*game, {kForward, kStop}).over);
  EXPECT_FALSE(PlayAll(*game, {kForward, kForward}).over);
  EXPECT_TRUE(PlayAll(*game, std::vector<int32_t>(8, kForward)).over);
}

TEST(AssignmentGame, GivesOneVariableAfterTheOtherALegalValue) {
  const auto problem = testing::CappedSum();
  const auto game = Game::Make(*problem);
  GameState position = game->Start();
  while (!position.over) {
    const View view = game->Observe(position);
    ASSERT_THAT(view.moves, Not(IsEmpty()));
    EXPECT_THAT(view.move_kinds, SizeIs(view.moves.size()));
    EXPECT_THAT(view.move_features, SizeIs(view.moves.size() * kMoveFeatures));
    EXPECT_EQ(view.focus, static_cast<int32_t>(position.choices.size()));
    position = *game->Play(
        position, *std::max_element(view.moves.begin(), view.moves.end()));
  }
  const space::Candidate proposal = game->Proposal(position);
  EXPECT_EQ(problem->Measure(proposal)->outcome, space::Outcome::kOk);
}

TEST(AssignmentGame, PaysWhatIsGainedOverTheDefault) {
  const auto problem = testing::CappedSum();
  const auto game = Game::Make(*problem);
  EXPECT_DOUBLE_EQ(game->FinalReward(90, 100), 0.1);
  EXPECT_DOUBLE_EQ(game->FinalReward(100, 100), 0);
  EXPECT_EQ(game->FinalReward(std::numeric_limits<double>::infinity(), 100),
            -1);
}

}  // namespace
}  // namespace hone::optimizers::policies
