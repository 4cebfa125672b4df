#include "optimizers/policies/model/model.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "optimizers/policies/game/rollout.h"
#include "optimizers/policies/learning/ppo_learner.h"
#include "optimizers/policies/model/frozen_model.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::optimizers::policies {
namespace {

using ::hone::testing::StatusIs;
using ::testing::Each;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

constexpr GameSpec kSpec = {
    .observation = {.node_kinds = 5, .node_features = 2, .global_features = 3},
    .move_kinds = 4};

// A path of `nodes` nodes, visited in the order given.
View PathView(const std::vector<int32_t>& order, size_t moves) {
  space::Observation graph;
  const int32_t last = *std::max_element(order.begin(), order.end());
  std::vector<int32_t> place(static_cast<size_t>(last) + 1);
  for (size_t i = 0; i < order.size(); ++i) {
    place[static_cast<size_t>(order[i])] = static_cast<int32_t>(i);
    graph.node_kinds.push_back(order[i] % 5);
    graph.node_features.insert(graph.node_features.end(),
                               {static_cast<float>(order[i]) / 8, 1});
  }
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    graph.edge_sources.push_back(place[i]);
    graph.edge_targets.push_back(place[i + 1]);
  }
  graph.global_features = {0.5F, static_cast<float>(order.size()) / 8, 0};
  View view;
  view.graph = std::make_shared<const space::Observation>(std::move(graph));
  view.game_features = {1, 0.5F, 0.25F};
  for (size_t m = 0; m < moves; ++m) {
    view.moves.push_back(static_cast<int32_t>(m));
    view.move_features.insert(view.move_features.end(),
                              {static_cast<float>(m), 0, 1, 0});
  }
  view.move_kinds = view.moves;
  return view;
}

// Weights that tell things apart: a new network's head is zero.
std::unique_ptr<Model> TrainedModel() {
  auto model = std::make_unique<Model>(kSpec, 1);
  PpoLearner learner(*model, PpoOptions{}, 1);
  Turn turn;
  turn.view = std::make_shared<const View>(PathView({0, 1, 2}, 3));
  turn.chosen = 1;
  const Turn* const turns[] = {&turn};
  for (int i = 0; i < 20; ++i) learner.Imitate(turns, 1e-3F);
  return model;
}

TEST(Model, KnowsNothingWhenNew) {
  const Model model(kSpec, 7);
  const View view = PathView({0, 1, 2, 3}, 4);
  const View* const views[] = {&view};
  EXPECT_THAT(model.Score(views)[0].scores, Each(0));
}

TEST(Model, LearnsToChooseAsShown) {
  const View view = PathView({0, 1, 2}, 3);
  const View* const views[] = {&view};
  EXPECT_EQ(ChooseBest(view, TrainedModel()->Score(views)[0]), 1);
}

TEST(Model, ScoresAViewTheSameAloneAndAmongOthers) {
  const std::unique_ptr<Model> model = TrainedModel();
  const View a = PathView({0, 1, 2, 3, 4, 5}, 4);
  const View b = PathView({3, 1}, 1);
  const View c = PathView({2}, 3);
  const View* const together[] = {&b, &a, &c, &a};
  const View* const alone[] = {&a};
  const auto expected = model->Score(alone)[0];
  for (size_t i : {size_t{1}, size_t{3}}) {
    const auto scores = model->Score(together)[i];
    EXPECT_THAT(scores.scores, Pointwise(FloatNear(1e-5F), expected.scores));
    EXPECT_NEAR(scores.value, expected.value, 1e-5);
  }
}

TEST(FrozenModel, ScoresAsTheModelDoes) {
  const std::unique_ptr<Model> model = TrainedModel();
  const FrozenModel frozen(TrainedModel());
  const View a = PathView({0, 1, 2, 3}, 3);
  View b = a;  // the same graph, another position
  b.game_features = {0.5F, 0.1F, 0.1F};
  const auto expect_same = [&](const std::vector<const View*>& views) {
    const std::vector<MoveScores> expected = model->Score(views);
    const std::vector<MoveScores> scores = frozen.Score(views);
    ASSERT_EQ(scores.size(), views.size());
    for (size_t i = 0; i < views.size(); ++i) {
      EXPECT_THAT(scores[i].scores,
                  Pointwise(FloatNear(1e-5F), expected[i].scores));
      EXPECT_NEAR(scores[i].value, expected[i].value, 1e-5);
    }
  };
  expect_same({&a, &b});
  expect_same({&b});
  // Graphs that come to lie where others were.
  std::vector<int32_t> order = {0, 1, 2, 3};
  do {
    const View c = PathView(order, 2);
    expect_same({&a, &c});
  } while (std::next_permutation(order.begin(), order.end()));
  View focused = a;
  focused.focus = 2;
  expect_same({&a, &focused});
}

TEST(Model, DoesNotSeeTheOrderOfNodes) {
  const std::unique_ptr<Model> model = TrainedModel();
  const View a = PathView({0, 1, 2, 3, 4}, 4);
  const View b = PathView({4, 2, 0, 1, 3}, 4);
  const View* const views[] = {&a, &b};
  const auto scores = model->Score(views);
  EXPECT_THAT(scores[1].scores, Pointwise(FloatNear(1e-5F), scores[0].scores));
}

TEST(Model, SeesTheEdges) {
  const std::unique_ptr<Model> model = TrainedModel();
  const View a = PathView({0, 1, 2, 3, 4}, 4);
  View b = a;
  space::Observation graph = *a.graph;
  std::swap(graph.edge_sources, graph.edge_targets);
  b.graph = std::make_shared<const space::Observation>(std::move(graph));
  const View* const views[] = {&a, &b};
  const auto scores = model->Score(views);
  EXPECT_NE(scores[0].scores, scores[1].scores);
}

TEST(Model, ComesBackFromItsBytes) {
  const std::unique_ptr<Model> model = TrainedModel();
  HONE_ASSERT_OK_AND_ASSIGN(const auto copy,
                            Model::Parse(model->Serialize(), kSpec));
  const View view = PathView({0, 1, 2, 3}, 4);
  const View* const views[] = {&view};
  EXPECT_EQ(copy->Score(views)[0].scores, model->Score(views)[0].scores);
}

TEST(Model, RefusesWhatIsNotItsWeights) {
  EXPECT_THAT(Model::Parse("not weights", kSpec),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("not the weights of a policy")));
  GameSpec other = kSpec;
  other.move_kinds = 9;
  EXPECT_THAT(Model::Parse(Model(kSpec, 1).Serialize(), other),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("4 moves, expected 5 node kinds")));
}

TEST(Rollout, IsTheSameForTheSameSeed) {
  const auto problem = testing::NumberRewriting();
  const auto game = Game::Make(*problem);
  const Model model(game->spec(), 3);
  const auto play = [&](uint64_t seed) {
    Rng rng(seed);
    auto episodes = PlayEpisodes(*game, model, 4, ChooseBySoftmax(rng));
    HONE_EXPECT_OK(episodes);
    std::vector<std::vector<int32_t>> moves;
    for (const Trajectory& episode : *episodes)
      moves.push_back(episode.end.moves);
    return moves;
  };
  EXPECT_EQ(play(5), play(5));
  EXPECT_NE(play(5), play(6));
}

TEST(Rollout, ReplaysMovesAndRefusesIllegalOnes) {
  const auto problem = testing::DelayedReward();
  const auto game = Game::Make(*problem);
  const std::vector<int32_t> moves = {1, 1, 1, 1, 1, 3};
  HONE_ASSERT_OK_AND_ASSIGN(const Trajectory episode,
                            ReplayMoves(*game, moves));
  EXPECT_EQ(episode.end.best_cost, 2);
  EXPECT_EQ(episode.turns.size(), 6);
  // `back` changes nothing at the start, so it is not offered twice.
  EXPECT_THAT(ReplayMoves(*game, {2, 2}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("move 2 is not legal after 1 moves")));
}

}  // namespace
}  // namespace hone::optimizers::policies
