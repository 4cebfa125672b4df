#include "optimizers/policies/first_game.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "learning/games/scorer.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::optimizers::policies {
namespace {

TEST(FirstGame, ComesInGrowingPartsToItsEnd) {
  const auto problem = testing::NumberRewriting();
  const learning::Game game(*problem->sequential());
  const learning::UniformScorer scorer;
  FirstGame first_game(game, scorer);
  std::vector<int32_t> moves;
  bool over = false;
  while (std::optional<learning::Trajectory> part = first_game.NextPart()) {
    const std::vector<int32_t>& now = part->end.moves;
    ASSERT_GT(now.size(), moves.size());
    EXPECT_THAT(std::vector<int32_t>(
                    now.begin(),
                    now.begin() + static_cast<std::ptrdiff_t>(moves.size())),
                ::testing::ElementsAreArray(moves));
    moves = now;
    over = part->end.over();
  }
  EXPECT_TRUE(over);
  const auto whole =
      learning::PlayEpisodes(game, scorer, 1, learning::ChooseBestAndGoOn);
  HONE_ASSERT_OK(whole);
  EXPECT_EQ(moves, (*whole)[0].end.moves);
}

// It ends by itself, and the optimizer `policy` begins with the same trials.
TEST(FirstGame, IsWhatZeroShotIsAndPolicyBeginsWith) {
  const auto trace = [](const char* id) {
    const auto problem = testing::NumberRewriting();
    std::vector<space::Candidate> candidates;
    SearchOptions options;
    options.on_trial = [&](const space::Trial& trial) {
      candidates.push_back(trial.candidate);
      return absl::OkStatus();
    };
    const auto optimizer = CreateOptimizer(id, *problem, {.seed = 3});
    HONE_EXPECT_OK(optimizer);
    const auto result = RunSearch(*problem, **optimizer, {.trials = 60},
                                  testing::FakeClock(), options);
    HONE_EXPECT_OK(result);
    return candidates;
  };
  const std::vector<space::Candidate> zero_shot = trace("zero_shot");
  EXPECT_LT(zero_shot.size(), 60U);
  EXPECT_GT(zero_shot.size(), 1U);
  const std::vector<space::Candidate> policy = trace("policy");
  ASSERT_GE(policy.size(), 2U);
  EXPECT_EQ(policy[1], zero_shot[1]);
}

}  // namespace
}  // namespace hone::optimizers::policies
