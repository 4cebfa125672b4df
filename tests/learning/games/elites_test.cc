#include "learning/games/elites.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::learning {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// NumberRewriting: 187 with these actions.
constexpr int32_t kHalve = 0;
constexpr int32_t kDecrement = 1;
constexpr int32_t kClearBit = 3;

class ElitesTest : public ::testing::Test {
 protected:
  // A game of `moves` that proposes `choices`, measured at `cost`.
  Trajectory Episode(const std::vector<int32_t>& choices, double cost,
                     const std::vector<int32_t>& moves = {}) const {
    auto episode = ReplayMoves(game_, moves);
    HONE_EXPECT_OK(episode);
    episode->proposal.choices = choices;
    episode->measurement.cost = cost;
    return *episode;
  }

  static std::vector<double> Costs(const Elites& elites) {
    std::vector<double> costs;
    for (const Trajectory& episode : elites.episodes()) {
      costs.push_back(episode.measurement.cost);
    }
    return costs;
  }

  static std::vector<std::vector<int32_t>> Proposals(const Elites& elites) {
    std::vector<std::vector<int32_t>> proposals;
    for (const Trajectory& episode : elites.episodes()) {
      proposals.push_back(episode.proposal.choices);
    }
    return proposals;
  }

  const std::unique_ptr<space::Problem> problem_ = testing::NumberRewriting();
  const Game game_{*problem_->sequential()};
};

TEST_F(ElitesTest, KeepsTheBestFew) {
  Elites elites(3);
  for (const int32_t i : {4, 1, 5, 2, 3}) elites.Offer(Episode({i}, i));
  EXPECT_THAT(Costs(elites), ElementsAre(1, 2, 3));
  // No room for what is worse than all.
  elites.Offer(Episode({9}, 9));
  EXPECT_THAT(Costs(elites), ElementsAre(1, 2, 3));
}

TEST_F(ElitesTest, OrdersByCostThenByLength) {
  Elites elites(4);
  elites.Offer(Episode({1, 1, 1}, 5));
  elites.Offer(Episode({2, 2, 2, 2}, 4));
  elites.Offer(Episode({3}, 5));
  elites.Offer(Episode({4, 4}, 5));
  EXPECT_THAT(Proposals(elites),
              ElementsAre(ElementsAre(2, 2, 2, 2), ElementsAre(3),
                          ElementsAre(4, 4), ElementsAre(1, 1, 1)));
}

TEST_F(ElitesTest, ReplacesTheSameProposalByABetterOne) {
  Elites elites(3);
  elites.Offer(Episode({1}, 7));
  elites.Offer(Episode({2}, 6));
  // Measured again: worse, then better.
  elites.Offer(Episode({1}, 8));
  EXPECT_THAT(Costs(elites), ElementsAre(6, 7));
  elites.Offer(Episode({1}, 5));
  EXPECT_THAT(Costs(elites), ElementsAre(5, 6));
  EXPECT_THAT(Proposals(elites), ElementsAre(ElementsAre(1), ElementsAre(2)));
}

TEST_F(ElitesTest, RefusesWhatHasNoFiniteCost) {
  Elites elites(3);
  elites.Offer(Episode({1}, std::numeric_limits<double>::infinity()));
  elites.Offer(Episode({2}, std::numeric_limits<double>::quiet_NaN()));
  Trajectory invalid = Episode({3}, 1);
  invalid.measurement.outcome = space::Outcome::kInvalid;
  elites.Offer(invalid);
  EXPECT_THAT(elites.episodes(), IsEmpty());
}

TEST_F(ElitesTest, GamesStartOnTheWayOfOne) {
  Elites elites(2);
  Rng rng(1);
  const auto first = elites.DrawStart(game_, rng);
  HONE_ASSERT_OK(first);
  EXPECT_THAT(first->turns, IsEmpty());
  elites.Offer(Episode({kClearBit, kDecrement}, 4));
  std::vector<int> of_length(3);
  for (int i = 0; i < 90; ++i) {
    const auto start = elites.DrawStart(game_, rng);
    HONE_ASSERT_OK(start);
    ASSERT_LE(start->turns.size(), 2u);
    const std::vector<int32_t> way = {kClearBit, kDecrement};
    EXPECT_TRUE(std::equal(start->end.choices.begin(), start->end.choices.end(),
                           way.begin()));
    ++of_length[start->turns.size()];
  }
  // The larger of two: 1, 3 and 5 of 9.
  EXPECT_GT(of_length[0], 0);
  EXPECT_GT(of_length[1], of_length[0]);
  EXPECT_GT(of_length[2], of_length[1]);
}

TEST_F(ElitesTest, TurnsAreTheUsefulOnesOfAllBestFirst) {
  // 187 is odd, so halving it changes nothing.
  const Trajectory worse = Episode({kDecrement}, 8, {kHalve, kDecrement});
  const Trajectory better =
      Episode({kClearBit, kDecrement}, 4, {kClearBit, kDecrement});
  Elites elites(2);
  EXPECT_THAT(elites.Turns(), IsEmpty());
  elites.Offer(worse);
  elites.Offer(better);
  std::vector<int32_t> moves;
  for (const Turn& turn : elites.Turns()) {
    moves.push_back(turn.view->moves[static_cast<size_t>(turn.chosen)]);
  }
  EXPECT_THAT(moves, ElementsAre(kClearBit, kDecrement, kDecrement));
}

}  // namespace
}  // namespace hone::learning
