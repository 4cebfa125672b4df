#include "optimizers/policies/weights.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <unistd.h>

#include "hlo/analysis/op_count.h"
#include "hlo/passes/registry.h"
#include "learning/assignment_learner.h"
#include "learning/games/rollout.h"
#include "learning/ppo_learner.h"
#include "optimizers/policies/shipped_weights.h"
#include "optimizers/registry.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"
#include "tests/tuning/sample_modules.h"
#include "tuning/tasks/module_observation.h"
#include "tuning/tasks/pass_order_problem.h"

namespace hone::optimizers::policies {
namespace {

using ::hone::testing::StatusIs;
using ::testing::Each;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

using learning::Game;
using learning::GameSpec;
using learning::kMoveFeatures;
using learning::Model;
using learning::PpoLearner;
using learning::Turn;
using learning::View;

using Names = std::vector<std::string>;

// Actions that add 1, 2, …
std::unique_ptr<space::SequentialProblem> Adding(const Names& names) {
  testing::IntegerProblem::Spec spec;
  for (size_t i = 0; i < names.size(); ++i) {
    spec.actions.push_back({names[i], [i](int64_t value) {
                              return value + static_cast<int64_t>(i) + 1;
                            }});
  }
  spec.cost = [](int64_t value) { return 100 - static_cast<double>(value); };
  return std::make_unique<testing::IntegerProblem>(std::move(spec));
}

std::unique_ptr<space::SequentialProblem> PassOrder(Names passes) {
  tuning::PassOrderOptions options;
  options.unit = "ops";
  options.score = [](const hlo::Module& module) {
    return static_cast<double>(hlo::CountOps(module));
  };
  options.passes = std::move(passes);
  return std::make_unique<tuning::PassOrderProblem>(
      tuning::ParseOrDie(tuning::kSimplifiable), std::move(options));
}

Names AllPasses() {
  const std::vector<absl::string_view> passes = hlo::Passes().ids();
  return {passes.begin(), passes.end()};
}

// Weights that score every move otherwise, `preferred` the highest.
std::unique_ptr<Model> Trained(const space::Problem& problem,
                               int32_t preferred) {
  const Game game(*problem.sequential());
  auto model =
      std::make_unique<Model>(game.spec(), learning::EncoderOptions{}, 1);
  PpoLearner learner(*model, learning::PpoOptions{}, 1);
  Turn turn;
  turn.view = std::make_shared<const View>(game.Observe(game.Start()));
  turn.chosen = preferred;
  for (int i = 0; i < 20; ++i) learner.Imitate({&turn, 1}, 1e-3F);
  return model;
}

// The scores at the start of the actions of these names, and of stopping last.
// Only they are on offer, so that equal weights give equal bits.
std::vector<float> Scores(const Model& model, const space::Problem& problem,
                          const Names& names) {
  const Game game(*problem.sequential());
  View view = game.Observe(game.Start());
  const Names actions = game.spec().actions.kind_names;
  const int32_t stop = view.moves.back();
  view.moves.clear();
  for (const std::string& name : names) {
    const auto it = std::find(actions.begin(), actions.end(), name);
    EXPECT_NE(it, actions.end()) << name;
    view.moves.push_back(static_cast<int32_t>(it - actions.begin()));
  }
  view.moves.push_back(stop);
  view.kinds = view.moves;
  view.kinds.back() = game.spec().move_kinds() - 1;
  view.focus.assign(view.moves.size(), -1);
  view.features.assign(view.moves.size() * kMoveFeatures, 0);
  const View* const views[] = {&view};
  return model.Score(views)[0].scores;
}

absl::StatusOr<std::unique_ptr<Model>> LoadFor(const space::Problem& problem,
                                               const Model& saved) {
  return Model::Parse(saved.Serialize(), Game(*problem.sequential()).spec());
}

TEST(Weights, KeepScoresWhenAnActionIsAdded) {
  const auto before = Adding({"a", "b", "c"});
  const auto after = Adding({"a", "b", "b2", "c"});
  const auto saved = Trained(*before, 1);
  HONE_ASSERT_OK_AND_ASSIGN(const auto model, LoadFor(*after, *saved));
  const std::vector<float> known = Scores(*saved, *before, {"a", "b", "c"});
  EXPECT_EQ(Scores(*model, *after, {"a", "b", "c"}), known);
  const std::vector<float> scores =
      Scores(*model, *after, {"a", "b", "b2", "c"});
  EXPECT_THAT((std::vector{scores[0], scores[1], scores[3], scores[4]}),
              Pointwise(FloatNear(1e-5F), known));
  // Neither preferred nor excluded.
  EXPECT_TRUE(std::isfinite(scores[2]));
  EXPECT_LT(scores[2], scores[1]);
  EXPECT_GT(scores[2], scores[1] - 10);
}

TEST(Weights, KeepScoresWhenAnActionIsRemoved) {
  const auto before = Adding({"a", "b", "c"});
  const auto after = Adding({"b", "c"});
  const auto saved = Trained(*before, 1);
  HONE_ASSERT_OK_AND_ASSIGN(const auto model, LoadFor(*after, *saved));
  EXPECT_EQ(Scores(*model, *after, {"b", "c"}),
            Scores(*saved, *before, {"b", "c"}));
}

TEST(Weights, KeepScoresWhenActionsAreReordered) {
  const auto before = Adding({"a", "b", "c"});
  const auto after = Adding({"c", "a", "b"});
  const auto saved = Trained(*before, 1);
  HONE_ASSERT_OK_AND_ASSIGN(const auto model, LoadFor(*after, *saved));
  EXPECT_EQ(Scores(*model, *after, {"a", "b", "c"}),
            Scores(*saved, *before, {"a", "b", "c"}));
  // Weights that are saved again have the new order.
  HONE_ASSERT_OK_AND_ASSIGN(const auto back, LoadFor(*before, *model));
  EXPECT_EQ(Scores(*back, *before, {"a", "b", "c"}),
            Scores(*saved, *before, {"a", "b", "c"}));
}

TEST(Weights, OfOtherActionsAreRefused) {
  const auto saved = Trained(*Adding({"a", "b"}), 1);
  EXPECT_THAT(LoadFor(*Adding({"x", "y"}), *saved),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("none of the actions")));
}

TEST(Weights, OfOtherObservationsAreRefused) {
  const auto saved = Trained(*Adding({"algsimp", "cse"}), 1);
  EXPECT_THAT(LoadFor(*PassOrder({"algsimp", "cse"}), *saved),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("weights are for 1 node kinds")));
}

TEST(Weights, KeepScoresWhenNodeKindsAreAdded) {
  GameSpec spec = {.observation = {.node_kinds = 2,
                                   .node_features = 1,
                                   .global_features = 2,
                                   .node_kind_names = {"add", "dot"},
                                   .global_feature_names = {"add", "dot"}},
                   .actions = {.kind_names = {"a", "b"}, .feature_names = {}}};
  space::Observation graph{.node_kinds = {0, 1},
                           .node_features = {1, 0.5F},
                           .edge_sources = {0},
                           .edge_targets = {1},
                           .global_features = {0.25F, 0.75F}};
  View view{.graph = std::make_shared<const space::Observation>(graph),
            .game_features = {1, 0.5F, 0.25F},
            .moves = {0, 1, learning::kStopMove},
            .kinds = {0, 1, 2},
            .focus = {-1, -1, -1},
            .features = std::vector<float>(3 * kMoveFeatures)};
  Model saved(spec, learning::EncoderOptions{}, 1);
  PpoLearner learner(saved, learning::PpoOptions{}, 1);
  Turn turn{.view = std::make_shared<const View>(view), .chosen = 1};
  for (int i = 0; i < 20; ++i) learner.Imitate({&turn, 1}, 1e-3F);
  const View* const views[] = {&view};
  const std::vector<float> known = saved.Score(views)[0].scores;

  spec.observation = {.node_kinds = 3,
                      .node_features = 1,
                      .global_features = 3,
                      .node_kind_names = {"dot", "new", "add"},
                      .global_feature_names = {"dot", "new", "add"}};
  HONE_ASSERT_OK_AND_ASSIGN(const auto model,
                            Model::Parse(saved.Serialize(), spec));
  graph.node_kinds = {2, 0};
  graph.global_features = {0.75F, 0, 0.25F};
  view.graph = std::make_shared<const space::Observation>(graph);
  EXPECT_THAT(model->Score(views)[0].scores,
              Pointwise(FloatNear(1e-5F), known));
  // The number of unknown opcodes has no effect by itself.
  graph.global_features[1] = 1;
  view.graph = std::make_shared<const space::Observation>(graph);
  EXPECT_THAT(model->Score(views)[0].scores,
              Pointwise(FloatNear(1e-5F), known));
  graph.node_kinds[0] = 1;
  view.graph = std::make_shared<const space::Observation>(graph);
  EXPECT_THAT(
      model->Score(views)[0].scores,
      Each(::testing::Truly([](float score) { return std::isfinite(score); })));
}

// A folder for files of weights, good and bad.
class WeightsFileTest : public ::testing::Test {
 protected:
  WeightsFileTest()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                absl::StrCat("weights_", getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~WeightsFileTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, absl::string_view bytes) const {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  // Expects all optimizers with trained weights to refuse those at `path` with
  // one line that names the file.
  void ExpectRefused(const space::Problem& problem, const std::string& path,
                     absl::StatusCode code, const std::string& message) {
    for (const char* id : {"policy", "guided", "finetune", "ppo"}) {
      SCOPED_TRACE(id);
      OptimizerOptions options;
      options.weights = path;
      const auto optimizer = CreateOptimizer(id, problem, options);
      ASSERT_THAT(optimizer, StatusIs(code, HasSubstr(message)));
      const std::string text(optimizer.status().message());
      EXPECT_THAT(text, ::testing::StartsWith(path));
      EXPECT_THAT(text, ::testing::Not(HasSubstr("\n")));
    }
  }

  const std::filesystem::path folder_;
};

TEST_F(WeightsFileTest, WhatIsNoFileOfWeightsIsRefused) {
  const auto sequence = Adding({"a", "b"});
  const auto assignment = testing::CappedSum();
  const std::string good_sequence = Trained(*sequence, 1)->Serialize();
  const std::string good_assignment =
      NewModel(*assignment->assignment(), {})->Serialize();
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  const auto refused = [&](const space::Problem& problem,
                           const std::string& good) {
    ExpectRefused(problem, folder_, kInvalid,
                  ": a folder, expected a file of weights");
    ExpectRefused(problem, folder_ / "none", absl::StatusCode::kNotFound,
                  ": cannot be read");
    const std::string no_weights = ": not the weights of a policy";
    ExpectRefused(problem, Write("empty", ""), kInvalid, no_weights);
    ExpectRefused(problem, Write("text", "PK not at all"), kInvalid,
                  no_weights);
    for (const size_t kept : {size_t{100}, good.size() / 2, good.size() - 1}) {
      ExpectRefused(problem, Write("cut", good.substr(0, kept)), kInvalid,
                    no_weights);
    }
  };
  refused(*sequence, good_sequence);
  refused(*assignment, good_assignment);
  ExpectRefused(*sequence, Write("other", good_assignment), kInvalid,
                ": weights of a policy for assignments, expected one for "
                "sequences");
  ExpectRefused(*assignment, Write("other", good_sequence), kInvalid,
                ": weights of a policy for sequences, expected one for "
                "assignments");
}

TEST_F(WeightsFileTest, WeightsOfAnotherProblemAreRefused) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  ExpectRefused(*Adding({"x", "y"}),
                Write("actions", Trained(*Adding({"a", "b"}), 1)->Serialize()),
                kInvalid,
                ": weights know none of the actions, such as 'x', but others, "
                "such as 'a'");
  const auto saved = testing::CappedSum();
  ExpectRefused(*testing::GraphPartition(),
                Write("nodes", NewModel(*saved->assignment(), {})->Serialize()),
                kInvalid, ": weights are for 8 node kinds, expected 9");
}

TEST_F(WeightsFileTest, WeightsOfAFileChangeWhatIsProposed) {
  const auto problem = testing::CappedSum();
  const auto& assignment = *problem->assignment();
  const auto model = NewModel(assignment, {});
  learning::AssignmentLearner learner(*model, {}, 1);
  const std::vector<int32_t> wanted = {2, 0, 1, 3, 0, 3, 1, 0};
  learning::AssignmentLesson lesson{
      std::make_shared<const learning::ValueView>(assignment),
      problem->DefaultCandidate().choices, wanted,
      std::vector<uint64_t>(8, 0b1111)};
  for (int i = 0; i < 100; ++i) learner.Imitate({&lesson, 1}, 1e-2F);
  OptimizerOptions options;
  options.weights = Write("good", model->Serialize());
  for (const char* id : {"policy", "guided", "finetune", "ppo"}) {
    SCOPED_TRACE(id);
    HONE_ASSERT_OK_AND_ASSIGN(auto optimizer,
                              CreateOptimizer(id, *problem, options));
    const std::vector<space::Candidate> first = optimizer->Suggest(1);
    ASSERT_EQ(first.size(), 1);
    EXPECT_EQ(first[0], problem->DefaultCandidate());
    optimizer->Observe({0, first[0], *problem->Measure(first[0])});
    // What the policy makes of the default comes right after it.
    const std::vector<space::Candidate> second = optimizer->Suggest(1);
    ASSERT_EQ(second.size(), 1);
    EXPECT_EQ(second[0].choices, wanted);
  }
  // Without weights it does not.
  options.uniform_prior = true;
  HONE_ASSERT_OK_AND_ASSIGN(auto uniform,
                            CreateOptimizer("policy", *problem, options));
  uniform->Observe(
      {0, uniform->Suggest(1)[0], *problem->Measure(uniform->Suggest(1)[0])});
  EXPECT_NE(uniform->Suggest(1)[0].choices, wanted);
}

TEST(ShippedWeights, HaveTheNamesOfAllPassesAndOpcodes) {
  const auto problem = PassOrder(AllPasses());
  HONE_ASSERT_OK_AND_ASSIGN(const auto model, TrainedModel(*problem, {}));
  // Without names this would be refused, as the counts differ.
  Names passes = AllPasses();
  passes.push_back("another");
  HONE_EXPECT_OK(TrainedModel(*PassOrder(passes), {}));
  GameSpec spec = model->spec();
  ++spec.observation.node_kinds;
  spec.observation.node_kind_names.push_back("another");
  HONE_EXPECT_OK(Model::Parse(ShippedWeights("pass_order"), spec));
  ++spec.observation.global_features;
  spec.observation.global_feature_names.push_back("another");
  HONE_EXPECT_OK(Model::Parse(ShippedWeights("pass_order"), spec));
}

TEST(ShippedWeights, ServePassesThatTheyDoNotKnow) {
  const auto before = PassOrder(AllPasses());
  HONE_ASSERT_OK_AND_ASSIGN(const auto saved, TrainedModel(*before, {}));
  const std::vector<float> known = Scores(*saved, *before, AllPasses());
  for (const size_t place : {size_t{0}, size_t{20}, AllPasses().size()}) {
    Names passes = AllPasses();
    passes.insert(passes.begin() + static_cast<std::ptrdiff_t>(place), "new");
    const auto after = PassOrder(passes);
    HONE_ASSERT_OK_AND_ASSIGN(const auto model, TrainedModel(*after, {}));
    EXPECT_EQ(Scores(*model, *after, AllPasses()), known);
    // Neither preferred nor excluded.
    const float score = Scores(*model, *after, {"new"})[0];
    EXPECT_LT(score, *std::max_element(known.begin(), known.end()));
    EXPECT_GT(score, *std::min_element(known.begin(), known.end()));
  }
}

TEST(ShippedWeights, KeepScoresWhenPassesAreRemovedAndReordered) {
  const auto before = PassOrder(AllPasses());
  HONE_ASSERT_OK_AND_ASSIGN(const auto saved, TrainedModel(*before, {}));
  Names passes = AllPasses();
  std::reverse(passes.begin(), passes.end());
  passes.resize(30);
  const auto after = PassOrder(passes);
  HONE_ASSERT_OK_AND_ASSIGN(const auto model, TrainedModel(*after, {}));
  EXPECT_EQ(Scores(*model, *after, passes), Scores(*saved, *before, passes));
}

TEST(ShippedWeights, StayTheSameWhenSavedAgain) {
  const auto problem = PassOrder(AllPasses());
  HONE_ASSERT_OK_AND_ASSIGN(const auto shipped, TrainedModel(*problem, {}));
  HONE_ASSERT_OK_AND_ASSIGN(const auto again, LoadFor(*problem, *shipped));
  EXPECT_EQ(Scores(*again, *problem, AllPasses()),
            Scores(*shipped, *problem, AllPasses()));
}

}  // namespace
}  // namespace hone::optimizers::policies
