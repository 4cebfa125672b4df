// Scores of moves, and the weights that they come from.

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "learning/assignment_learner.h"
#include "learning/models/assignment_model.h"
#include "tests/support/ring_problem.h"
#include "tests/support/status_matchers.h"

namespace hone::learning {
namespace {

using ::hone::testing::RingProblem;
using ::hone::testing::StatusIs;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using ::testing::SizeIs;

using Names = std::vector<std::string>;

// All moves of one variable from the default.
std::vector<DescribedMove> MovesOf(const RingProblem& problem) {
  std::vector<DescribedMove> moves;
  const std::vector<int32_t> from = problem.DefaultCandidate().choices;
  for (int32_t v = 0; v < problem.options().variables; ++v) {
    for (int32_t value = 1; value < problem.options().values; ++value) {
      moves.push_back({{{v, value}}, problem.Describe(from, {{v, value}})});
    }
  }
  return moves;
}

std::vector<float> ScoresOf(const AssignmentModel& model,
                            const RingProblem& problem,
                            absl::Span<const DescribedMove> moves) {
  const ValueView view(problem);
  std::shared_ptr<const AssignmentModel::Encoded> memory;
  return model.ScoreMoves(view, moves, memory);
}

// Weights that tell moves apart: those of a new network's last layer are 0.
std::unique_ptr<AssignmentModel> TrainedOn(const RingProblem& problem,
                                           const EncoderOptions& options) {
  auto model = std::make_unique<AssignmentModel>(SpecOf(problem), options, 1);
  AssignmentLearner learner(*model, {}, 1);
  const ValueView view(problem);
  std::vector<TriedMove> tried;
  for (const DescribedMove& move : MovesOf(problem)) {
    tried.push_back({move, static_cast<float>(tried.size() % 3)});
  }
  for (int i = 0; i < 20; ++i) learner.FitGains(view, tried, 1e-2F);
  return model;
}

std::vector<EncoderOptions> Architectures() {
  return {{.width = 16, .layers = 1},
          {.width = 16,
           .layers = 2,
           .aggregator = Aggregator::kAttention,
           .segment = 4,
           .conditioning = true,
           .task_heads = true}};
}

TEST(MoveScores, AreZeroWhenNew) {
  const RingProblem problem({});
  for (const EncoderOptions& options : Architectures()) {
    const AssignmentModel model(SpecOf(problem), options, 3);
    const std::vector<float> scores =
        ScoresOf(model, problem, MovesOf(problem));
    EXPECT_THAT(scores, SizeIs(12));
    EXPECT_THAT(scores, Each(0));
  }
}

TEST(MoveScores, DoNotDependOnTheOtherMoves) {
  const RingProblem problem({});
  for (const EncoderOptions& options : Architectures()) {
    const auto model = TrainedOn(problem, options);
    std::vector<DescribedMove> moves = MovesOf(problem);
    // One of many changes, and one of none.
    moves.push_back({{{0, 1}, {3, 2}, {5, 0}}, {0.5F, -1, 1.5F}});
    moves.push_back({{}, {0, 0, 0}});
    const std::vector<float> scores = ScoresOf(*model, problem, moves);
    EXPECT_NE(scores[0], scores[1]);
    std::reverse(moves.begin(), moves.end());
    std::vector<float> turned = ScoresOf(*model, problem, moves);
    std::reverse(turned.begin(), turned.end());
    EXPECT_THAT(turned, Pointwise(FloatNear(1e-4F), scores));
    std::reverse(moves.begin(), moves.end());
    for (size_t i = 0; i < moves.size(); ++i) {
      EXPECT_THAT(ScoresOf(*model, problem, {moves[i]}),
                  ElementsAre(FloatNear(scores[i], 1e-4F)));
    }
    // The order of the changes means nothing, either.
    DescribedMove& many = moves[moves.size() - 2];
    std::reverse(many.changes.begin(), many.changes.end());
    EXPECT_THAT(ScoresOf(*model, problem, {many}),
                ElementsAre(FloatNear(scores[scores.size() - 2], 1e-4F)));
  }
}

TEST(MoveScores, SeeFeaturesVariablesAndValues) {
  const RingProblem problem({});
  const auto model = TrainedOn(problem, Architectures()[0]);
  const DescribedMove move = {{{1, 1}}, {0.5F, 0.5F, 0.5F}};
  DescribedMove other_value = move;
  other_value.changes[0].value = 2;
  DescribedMove other_features = move;
  other_features.features[0] = -0.5F;
  const std::vector<float> scores =
      ScoresOf(*model, problem, {move, other_value, other_features});
  EXPECT_NE(scores[0], scores[1]);
  EXPECT_NE(scores[0], scores[2]);
}

TEST(MoveScores, OfMovesWithManyChangesAreFinite) {
  const RingProblem problem({.variables = 300, .values = 3});
  const auto model = TrainedOn(problem, Architectures()[1]);
  std::vector<DescribedMove> moves;
  for (const int32_t count : {32, 33, 100, 300}) {
    DescribedMove move = {{}, {0, 1, 0}};
    for (int32_t v = 0; v < count; ++v) move.changes.push_back({v, v % 3});
    moves.push_back(move);
  }
  for (const float score : ScoresOf(*model, problem, moves)) {
    EXPECT_TRUE(std::isfinite(score));
    EXPECT_NE(score, 0);
  }
}

TEST(MoveScores, TheGraphIsEncodedOnce) {
  const RingProblem problem({});
  const auto model = TrainedOn(problem, Architectures()[1]);
  const std::vector<DescribedMove> moves = MovesOf(problem);
  const ValueView view(problem);
  std::shared_ptr<const AssignmentModel::Encoded> memory;
  const std::vector<float> first = model->ScoreMoves(view, moves, memory);
  ASSERT_NE(memory, nullptr);
  const AssignmentModel::Encoded* const kept = memory.get();
  EXPECT_EQ(model->ScoreMoves(view, moves, memory), first);
  EXPECT_EQ(memory.get(), kept);
}

TEST(MoveWeights, ComeBackFromTheirBytes) {
  const RingProblem problem({});
  for (const EncoderOptions& options : Architectures()) {
    const auto saved = TrainedOn(problem, options);
    HONE_ASSERT_OK_AND_ASSIGN(
        const auto copy,
        AssignmentModel::Parse(saved->Serialize(), SpecOf(problem)));
    EXPECT_EQ(copy->spec(), saved->spec());
    EXPECT_EQ(copy->options(), options);
    const std::vector<DescribedMove> moves = MovesOf(problem);
    EXPECT_EQ(ScoresOf(*copy, problem, moves),
              ScoresOf(*saved, problem, moves));
    EXPECT_EQ(copy->Serialize(), saved->Serialize());
  }
}

TEST(MoveWeights, AreMatchedByTheNamesOfFeatures) {
  const RingProblem problem({});
  const auto saved = TrainedOn(problem, Architectures()[0]);
  const std::vector<float> scores = ScoresOf(*saved, problem, MovesOf(problem));
  const auto on = [&](const Names& names) {
    const RingProblem other({.move_features = names});
    auto model = AssignmentModel::Parse(saved->Serialize(), SpecOf(other));
    HONE_EXPECT_OK(model);
    return ScoresOf(**model, other, MovesOf(other));
  };
  EXPECT_THAT(on({"size", "noise", "saved"}),
              Pointwise(FloatNear(1e-4F), scores));
  // What the weights do not know has no effect.
  EXPECT_THAT(on({"new", "saved", "size", "newer", "noise"}),
              Pointwise(FloatNear(1e-4F), scores));
  // What is gone takes nothing else with it.
  const std::vector<float> fewer = on({"saved", "size"});
  EXPECT_THAT(fewer, SizeIs(scores.size()));
  EXPECT_NE(fewer, scores);
}

TEST(MoveWeights, OfOtherMovesAreRefused) {
  const RingProblem described({});
  const RingProblem silent({.move_features = {}});
  const auto refuses = [](const RingProblem& saved, const RingProblem& problem,
                          const char* message) {
    const AssignmentModel model(SpecOf(saved), {.width = 8, .layers = 1}, 1);
    EXPECT_THAT(
        AssignmentModel::Parse(model.Serialize(), SpecOf(problem)),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  };
  refuses(silent, described, "0 features of moves, expected 3");
  refuses(described, silent, "3 features of moves, expected 0");
  refuses(described, RingProblem({.move_features = {"taste"}}),
          "none of the features of moves, such as 'taste', but others, such as "
          "'noise'");
}

}  // namespace
}  // namespace hone::learning
