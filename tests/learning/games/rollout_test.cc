#include "learning/games/rollout.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::learning {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

// DelayedReward: 0 → 1 → … → 5 by `forward`.
constexpr int32_t kForward = 1;

// Prefers to stop, and next to go forward.
class StopsEarly final : public Scorer {
 public:
  std::vector<MoveScores> Score(
      absl::Span<const View* const> views) const override {
    std::vector<MoveScores> result;
    for (const View* view : views) {
      MoveScores scores;
      for (int32_t move : view->moves) {
        scores.scores.push_back(move == kStopMove  ? 2.0F
                                : move == kForward ? 1.0F
                                                   : 0.0F);
      }
      result.push_back(std::move(scores));
    }
    return result;
  }
};

TEST(PlayEpisodes, EndWhereThePolicyStops) {
  const auto problem = testing::DelayedReward();
  const Game game(*problem->sequential());
  const auto episodes = PlayEpisodes(game, StopsEarly(), 2, ChooseBest);
  HONE_ASSERT_OK(episodes);
  EXPECT_THAT(*episodes, SizeIs(2));
  EXPECT_THAT((*episodes)[0].end.moves, ElementsAre(kStopMove));
}

// Chooses to go forward and expects 3 of every state.
class ExpectsThree final : public Scorer {
 public:
  std::vector<MoveScores> Score(
      absl::Span<const View* const> views) const override {
    std::vector<MoveScores> result = StopsEarly().Score(views);
    for (MoveScores& scores : result) scores.value = 3;
    return result;
  }
};

TEST(PlayOn, EstimatesWhereAPartEnds) {
  const auto problem = testing::DelayedReward();
  const Game game(*problem->sequential());
  std::vector<Trajectory> parts = {Trajectory(game.Start())};
  const auto play = [&](int32_t moves) {
    return PlayOn(game, ExpectsThree(), ChooseBestAndGoOn, moves,
                  absl::MakeSpan(parts));
  };
  HONE_ASSERT_OK(play(2));
  EXPECT_EQ(parts[0].value_after, 3);
  // Nothing comes after the end.
  HONE_ASSERT_OK(play(100));
  EXPECT_TRUE(parts[0].end.over());
  EXPECT_EQ(parts[0].value_after, 0);
}

TEST(PlayOn, GivesInPartsWhatTheWholeGameIs) {
  const auto problem = testing::DelayedReward();
  const Game game(*problem->sequential());
  const auto whole = PlayEpisodes(game, StopsEarly(), 1, ChooseBestAndGoOn);
  HONE_ASSERT_OK(whole);
  std::vector<Trajectory> parts = {Trajectory(game.Start())};
  HONE_ASSERT_OK(
      PlayOn(game, StopsEarly(), ChooseBestAndGoOn, 3, absl::MakeSpan(parts)));
  EXPECT_THAT(parts[0].turns, SizeIs(3));
  // The states so far are dearer than the start.
  EXPECT_THAT(parts[0].proposal.choices, SizeIs(0));
  HONE_ASSERT_OK(PlayOn(game, StopsEarly(), ChooseBestAndGoOn, 1000,
                        absl::MakeSpan(parts)));
  EXPECT_EQ(parts[0].end.moves, (*whole)[0].end.moves);
  EXPECT_EQ(parts[0].proposal, (*whole)[0].proposal);
  EXPECT_TRUE(parts[0].end.over());
}

TEST(PlayEpisodes, GoOnWhereThePolicyWouldStop) {
  const auto problem = testing::DelayedReward();
  const Game game(*problem->sequential());
  const auto episodes = PlayEpisodes(game, StopsEarly(), 1, ChooseBestAndGoOn);
  HONE_ASSERT_OK(episodes);
  // The cheapest state is five moves ahead, behind dearer ones.
  EXPECT_THAT((*episodes)[0].proposal.choices, SizeIs(5));
  EXPECT_THAT((*episodes)[0].proposal.choices, Each(kForward));
}

TEST(PlayEpisodes, StopWhereNothingElseIsLeft) {
  View view;
  view.moves = {kStopMove};
  EXPECT_EQ(MovesThatGoOn(view), 1u);
  EXPECT_EQ(ChooseBestAndGoOn(view, {{0.0F}, 0}), 0);
}

TEST(ReplayMoves, RefusesIllegalMoves) {
  const auto problem = testing::DelayedReward();
  const Game game(*problem->sequential());
  HONE_ASSERT_OK_AND_ASSIGN(const Trajectory episode,
                            ReplayMoves(game, {1, 1, 1, 1, 1, kStopMove}));
  EXPECT_EQ(episode.end.best_cost, 2);
  EXPECT_THAT(episode.turns, SizeIs(6));
  // `back` changes nothing at the start, so it is not offered twice.
  EXPECT_THAT(ReplayMoves(game, {2, 2}),
              testing::StatusIs(
                  absl::StatusCode::kInvalidArgument,
                  ::testing::HasSubstr("move 2 is not legal after 1 moves")));
}

TEST(UsefulTurns, LeaveOutNoOpsAndWhatCameAfterTheBest) {
  const auto problem = testing::DelayedReward();
  const Game game(*problem->sequential());
  // `back` does nothing at first, and leads away from the best at the end.
  HONE_ASSERT_OK_AND_ASSIGN(const Trajectory episode,
                            ReplayMoves(game, {2, kForward, kForward, kForward,
                                               kForward, kForward, 2}));
  const std::vector<Turn> useful = UsefulTurns(episode);
  ASSERT_THAT(useful, SizeIs(6));
  for (size_t t = 0; t < 5; ++t) {
    EXPECT_EQ(useful[t].view->moves[static_cast<size_t>(useful[t].chosen)],
              kForward);
  }
  // Instead of going back: to stop.
  EXPECT_EQ(useful[5].view->moves[static_cast<size_t>(useful[5].chosen)],
            kStopMove);
}

TEST(UsefulTurns, AreNoneWhereNothingWasGained) {
  const auto problem = testing::DelayedReward();
  const Game game(*problem->sequential());
  HONE_ASSERT_OK_AND_ASSIGN(const Trajectory episode,
                            ReplayMoves(game, {kForward, kForward}));
  EXPECT_TRUE(UsefulTurns(episode).empty());
}

}  // namespace
}  // namespace hone::learning
