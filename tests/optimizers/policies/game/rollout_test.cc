#include "optimizers/policies/game/rollout.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::optimizers::policies {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

// DelayedReward: 0 → 1 → … → 5 by `forward`.
constexpr int32_t kForward = 1;
constexpr int32_t kStop = 3;

// Prefers to stop, and next to go forward.
class StopsEarly final : public Scorer {
 public:
  std::vector<MoveScores> Score(
      absl::Span<const View* const> views) const override {
    std::vector<MoveScores> result;
    for (const View* view : views) {
      MoveScores scores;
      for (int32_t move : view->moves) {
        scores.scores.push_back(move == kStop      ? 2.0F
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
  const auto game = Game::Make(*problem);
  const auto episodes = PlayEpisodes(*game, StopsEarly(), 2, ChooseBest);
  HONE_ASSERT_OK(episodes);
  EXPECT_THAT(*episodes, SizeIs(2));
  EXPECT_THAT((*episodes)[0].end.moves, ElementsAre(kStop));
}

TEST(PlayEpisodes, GoOnWhereThePolicyWouldStop) {
  const auto problem = testing::DelayedReward();
  const auto game = Game::Make(*problem);
  const auto episodes = PlayEpisodes(*game, StopsEarly(), 1, ChooseBestAndGoOn);
  HONE_ASSERT_OK(episodes);
  // The cheapest state is five moves ahead, behind dearer ones.
  EXPECT_THAT((*episodes)[0].proposal.choices, SizeIs(5));
  EXPECT_THAT((*episodes)[0].proposal.choices, Each(kForward));
}

TEST(PlayEpisodes, StopWhereNothingElseIsLeft) {
  View view;
  view.moves = {kStop};
  view.last_stops = true;
  EXPECT_EQ(MovesThatGoOn(view), 1u);
  EXPECT_EQ(ChooseBestAndGoOn(view, {{0.0F}, 0}), 0);
  // Moves of an assignment problem: none stops.
  view.moves = {0, 1};
  view.last_stops = false;
  EXPECT_EQ(MovesThatGoOn(view), 2u);
}

}  // namespace
}  // namespace hone::optimizers::policies
