#include "learning/replay.h"

#include <memory>
#include <utility>

#include "gtest/gtest.h"

#include "tests/support/toy_problems.h"

namespace hone::learning {
namespace {

Trajectory EpisodeOf(const std::vector<float>& rewards,
                     const std::vector<bool>& greedy) {
  static const auto* const problem =
      new std::unique_ptr<space::Problem>(testing::DelayedReward());
  Trajectory episode(Game(*(*problem)->sequential()).Start());
  for (size_t t = 0; t < rewards.size(); ++t) {
    Turn turn;
    turn.view = std::make_shared<View>();
    turn.reward = rewards[t];
    turn.greedy = greedy[t];
    episode.turns.push_back(std::move(turn));
  }
  return episode;
}

TEST(Replay, LeadsToTheTurnBehindTheLookahead) {
  Replay replay(10, 2, 0.5F);
  const Trajectory episode = EpisodeOf({1, 2, 4}, {true, true, true});
  replay.Remember(episode);
  ASSERT_EQ(replay.size(), 3);
  EXPECT_EQ(replay[0].next, episode.turns[2].view);
  EXPECT_FLOAT_EQ(replay[0].reward, 2);
  EXPECT_FLOAT_EQ(replay[0].discount, 0.25F);
  EXPECT_EQ(replay[1].next, nullptr);
  EXPECT_FLOAT_EQ(replay[1].reward, 4);
}

TEST(Replay, ForgetsTheOldest) {
  Replay replay(4, 1, 1);
  replay.Remember(EpisodeOf({1, 2, 3}, {true, true, true}));
  replay.Remember(EpisodeOf({4, 5, 6}, {true, true, true}));
  ASSERT_EQ(replay.size(), 4);
  EXPECT_EQ(replay[0].reward, 3);
  EXPECT_EQ(replay[3].reward, 6);
}

}  // namespace
}  // namespace hone::learning
