#include "optimizers/policies/first_game.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "learning/games/scorer.h"
#include "optimizers/registry.h"
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

// What an optimizer proposes, without the clean-up of a search; at most 60
// candidates.
std::vector<space::Candidate> Proposals(const char* id,
                                        const space::Problem& problem) {
  std::vector<space::Candidate> candidates;
  const auto optimizer = CreateOptimizer(id, problem, {.seed = 3});
  HONE_EXPECT_OK(optimizer);
  for (int64_t trial = 0; trial < 60; ++trial) {
    const std::vector<space::Candidate> next = (*optimizer)->Suggest(1);
    if (next.empty()) break;
    candidates.push_back(next[0]);
    (*optimizer)->Observe({trial, next[0], *problem.Measure(next[0])});
  }
  return candidates;
}

// It ends by itself, and the optimizer `policy` begins with the same trials and
// goes on.
TEST(FirstGame, IsWhatZeroShotIsAndPolicyBeginsWith) {
  const auto problem = testing::NumberRewriting();
  const std::vector<space::Candidate> zero_shot =
      Proposals("zero_shot", *problem);
  EXPECT_GT(zero_shot.size(), 1u);
  std::vector<space::Candidate> policy = Proposals("policy", *problem);
  ASSERT_GT(policy.size(), zero_shot.size());
  policy.resize(zero_shot.size());
  EXPECT_EQ(policy, zero_shot);
}

// Every move pays, so that each part of the game has something to propose.
TEST(FirstGame, EachPartIsATrial) {
  testing::IntegerProblem::Spec spec;
  spec.initial = 1000;
  spec.actions = {{"subtract1", [](int64_t n) { return n - 1; }},
                  {"subtract2", [](int64_t n) { return n - 2; }},
                  {"subtract3", [](int64_t n) { return n - 3; }}};
  spec.cost = [](int64_t n) { return static_cast<double>(n); };
  spec.max_steps = 64;
  const testing::IntegerProblem problem(std::move(spec));
  const std::vector<space::Candidate> zero_shot =
      Proposals("zero_shot", problem);
  // The default, and eight parts of eight moves.
  ASSERT_EQ(zero_shot.size(), 9u);
  for (size_t part = 1; part < zero_shot.size(); ++part) {
    const std::vector<int32_t>& before = zero_shot[part - 1].choices;
    std::vector<int32_t> now = zero_shot[part].choices;
    ASSERT_EQ(now.size(), 8 * part);
    now.resize(before.size());
    EXPECT_EQ(now, before);
  }
  std::vector<space::Candidate> policy = Proposals("policy", problem);
  ASSERT_GT(policy.size(), zero_shot.size());
  policy.resize(zero_shot.size());
  EXPECT_EQ(policy, zero_shot);
}

}  // namespace
}  // namespace hone::optimizers::policies
