#include "learning/models/model.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "learning/games/rollout.h"
#include "learning/models/frozen_model.h"
#include "learning/ppo_learner.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::learning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::Each;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

const GameSpec kSpec = {
    .observation = {.node_kinds = 5, .node_features = 2, .global_features = 3},
    .actions = {.kind_names = {"a", "b", "c"}, .feature_names = {}}};

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
    view.features.insert(view.features.end(), {static_cast<float>(m), 0, 1, 0});
  }
  view.kinds = view.moves;
  view.focus.assign(moves, -1);
  return view;
}

// Weights that tell things apart: a new network's head is zero.
std::unique_ptr<Model> TrainedModel() {
  auto model = std::make_unique<Model>(kSpec, EncoderOptions{}, 1);
  PpoLearner learner(*model, PpoOptions{}, 1);
  Turn turn;
  turn.view = std::make_shared<const View>(PathView({0, 1, 2}, 3));
  turn.chosen = 1;
  for (int i = 0; i < 20; ++i) learner.Imitate({&turn, 1}, 1e-3F);
  return model;
}

TEST(Model, KnowsNothingWhenNew) {
  const Model model(kSpec, EncoderOptions{}, 7);
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
  focused.focus[1] = 2;
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
  other.observation.node_features = 9;
  EXPECT_THAT(
      Model::Parse(Model(kSpec, EncoderOptions{}, 1).Serialize(), other),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("2 node features, expected 9")));
}

TEST(Model, ComesBackWithItsArchitecture) {
  const EncoderOptions options = {.width = 16,
                                  .layers = 1,
                                  .aggregator = Aggregator::kMax,
                                  .segment = 3,
                                  .conditioning = true};
  HONE_ASSERT_OK_AND_ASSIGN(
      const auto copy,
      Model::Parse(Model(kSpec, options, 1).Serialize(), kSpec));
  EXPECT_EQ(copy->options(), options);
}

TEST(Model, TakesWhatFitsOfAnotherArchitecture) {
  const Model from(kSpec, {.layers = 1}, 1);
  Model to(kSpec, {.layers = 2}, 2);
  const std::vector<std::string> left = to.CopyMatching(from);
  EXPECT_THAT(left, ::testing::Contains("encoder.merge1.weight"));
  EXPECT_THAT(left, ::testing::Not(::testing::Contains("kinds.weight")));
}

TEST(Rollout, IsTheSameForTheSameSeed) {
  const auto problem = testing::NumberRewriting();
  const Game game(*problem->sequential());
  const Model model(game.spec(), EncoderOptions{}, 3);
  const auto play = [&](uint64_t seed) {
    Rng rng(seed);
    auto episodes = PlayEpisodes(game, model, 4, ChooseBySoftmax(rng));
    HONE_EXPECT_OK(episodes);
    std::vector<std::vector<int32_t>> moves;
    for (const Trajectory& episode : *episodes)
      moves.push_back(episode.end.moves);
    return moves;
  };
  EXPECT_EQ(play(5), play(5));
  EXPECT_NE(play(5), play(6));
}

}  // namespace
}  // namespace hone::learning
