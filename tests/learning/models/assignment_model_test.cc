#include "learning/models/assignment_model.h"

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "learning/assignment_learner.h"
#include "learning/models/model.h"
#include "learning/networks/value_network.h"
#include "tests/support/status_matchers.h"

namespace hone::learning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::Contains;
using ::testing::Each;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pointwise;

using Names = std::vector<std::string>;

// Four nodes in a row, to be put on two places and painted in three colors. The
// names of everything come in an order of their own.
class Painting final : public space::AssignmentProblem {
 public:
  struct Order {
    Names kinds = {"small", "large"};
    Names node_features = {"age", "weight"};
    Names edge_features = {"length"};
    Names global_features = {"season", "light"};
    Names place_features = {"height", "shade"};
    Names groups = {"place", "color"};
  };

  explicit Painting(const Order& order) : order_(order) {
    space::Observation graph;
    for (int32_t node = 0; node < 4; ++node) {
      graph.node_kinds.push_back(Index(order_.kinds, "small"));
      if (node % 2 == 1) graph.node_kinds.back() = Index(order_.kinds, "large");
      for (const std::string& name : order_.node_features) {
        graph.node_features.push_back(
            name == "age" ? static_cast<float>(node) / 4 : 0.5F);
      }
      if (node == 0) continue;
      graph.edge_sources.push_back(node - 1);
      graph.edge_targets.push_back(node);
      for (size_t i = 0; i < order_.edge_features.size(); ++i) {
        graph.edge_features.push_back(0.25F);
      }
    }
    for (const std::string& name : order_.global_features) {
      graph.global_features.push_back(name == "season" ? 0.75F : 0.5F);
    }
    graph_ = std::make_shared<const space::Observation>(std::move(graph));
    int32_t first = 0;
    for (const std::string& name : order_.groups) {
      const bool is_place = name == "place";
      groups_.push_back({.name = name,
                         .first = first,
                         .count = 4,
                         .domain = is_place ? 2 : 3});
      if (is_place) groups_.back().value_feature_names = order_.place_features;
      first += 4;
    }
  }

  absl::string_view unit() const override { return "points"; }
  space::Candidate DefaultCandidate() const override {
    return {std::vector<int32_t>(static_cast<size_t>(variable_count()))};
  }
  double reference_cost() const override { return 1; }
  absl::StatusOr<std::vector<space::Measurement>> MeasureBatch(
      absl::Span<const space::Candidate> candidates) const override {
    return std::vector<space::Measurement>(candidates.size());
  }
  space::ObservationSpec observation_spec() const override {
    return {
        .node_kinds = static_cast<int32_t>(order_.kinds.size()),
        .node_features = static_cast<int32_t>(order_.node_features.size()),
        .edge_features = static_cast<int32_t>(order_.edge_features.size()),
        .global_features = static_cast<int32_t>(order_.global_features.size()),
        .node_kind_names = order_.kinds,
        .node_feature_names = order_.node_features,
        .edge_feature_names = order_.edge_features,
        .global_feature_names = order_.global_features};
  }
  absl::Span<const space::VariableGroup> groups() const override {
    return groups_;
  }
  std::shared_ptr<const space::Observation> Graph() const override {
    return graph_;
  }
  int32_t NodeOf(int32_t variable) const override { return variable % 4; }
  std::vector<float> ValueFeatures(int32_t group) const override {
    std::vector<float> features;
    const space::VariableGroup& of = groups_[static_cast<size_t>(group)];
    for (int32_t value = 0; value < of.domain; ++value) {
      for (const std::string& name : of.value_feature_names) {
        features.push_back(name == "height" ? static_cast<float>(value) / 2
                                            : 1 - static_cast<float>(value));
      }
    }
    return features;
  }

  // The scores of a group, after the default.
  std::vector<float> Scores(const AssignmentModel& model,
                            absl::string_view group) const {
    const ValueView view(*this);
    const std::vector<float> scores =
        model.Score(view, DefaultCandidate().choices);
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].name != group) continue;
      const auto first =
          scores.begin() +
          static_cast<std::ptrdiff_t>(view.first_score(groups_[g].first));
      return {first, first + groups_[g].count * groups_[g].domain};
    }
    return {};
  }

 private:
  static int32_t Index(const Names& names, absl::string_view name) {
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] == name) return static_cast<int32_t>(i);
    }
    return 0;
  }

  const Order order_;
  std::vector<space::VariableGroup> groups_;
  std::shared_ptr<const space::Observation> graph_;
};

// Weights that tell values apart: a new network's head is zero.
std::unique_ptr<AssignmentModel> TrainedOn(const Painting& problem,
                                           const EncoderOptions& options = {}) {
  auto model = std::make_unique<AssignmentModel>(SpecOf(problem), options, 1);
  AssignmentLearner learner(*model, {}, 1);
  AssignmentLesson lesson{std::make_shared<const ValueView>(problem),
                          problem.DefaultCandidate().choices,
                          {0, 1, 1, 0, 2, 1, 0, 2},
                          {}};
  for (size_t v = 0; v < 8; ++v) {
    lesson.choice.push_back(v < 4 ? 0b11 : 0b111);
  }
  double loss = 0;
  double first = 0;
  for (int i = 0; i < 60; ++i) {
    loss = learner.Imitate({&lesson, 1}, 1e-2F);
    if (i == 0) first = loss;
  }
  EXPECT_LT(loss, first / 4);
  return model;
}

absl::StatusOr<std::unique_ptr<AssignmentModel>> LoadFor(
    const Painting& problem, const AssignmentModel& saved) {
  return AssignmentModel::Parse(saved.Serialize(), SpecOf(problem));
}

TEST(AssignmentModel, KnowsNothingWhenNew) {
  const Painting problem({});
  const AssignmentModel model(SpecOf(problem), {}, 3);
  EXPECT_THAT(problem.Scores(model, "place"), Each(0));
  EXPECT_THAT(problem.Scores(model, "color"), Each(0));
}

TEST(AssignmentModel, ComesBackFromItsBytesWithItsArchitecture) {
  const Painting problem({});
  const EncoderOptions options = {.width = 16,
                                  .layers = 2,
                                  .aggregator = Aggregator::kAttention,
                                  .conditioning = true};
  const auto saved = TrainedOn(problem, options);
  HONE_ASSERT_OK_AND_ASSIGN(const auto copy, LoadFor(problem, *saved));
  EXPECT_EQ(copy->options(), options);
  for (const char* group : {"place", "color"}) {
    EXPECT_EQ(problem.Scores(*copy, group), problem.Scores(*saved, group));
  }
  EXPECT_EQ(copy->Serialize(), saved->Serialize());
}

TEST(AssignmentModel, WeightsAreMatchedByName) {
  const Painting problem({});
  const auto saved = TrainedOn(problem);
  const Painting other({.kinds = {"large", "new", "small"},
                        .node_features = {"new", "weight", "age"},
                        .edge_features = {"length", "new"},
                        .global_features = {"light", "season"},
                        .place_features = {"shade", "height"},
                        .groups = {"color", "place"}});
  HONE_ASSERT_OK_AND_ASSIGN(const auto model, LoadFor(other, *saved));
  for (const char* group : {"place", "color"}) {
    EXPECT_THAT(other.Scores(*model, group),
                Pointwise(FloatNear(1e-4F), problem.Scores(*saved, group)));
  }
  // Variables that are gone take nothing with them.
  const Painting fewer({.groups = {"color"}});
  HONE_ASSERT_OK_AND_ASSIGN(const auto smaller, LoadFor(fewer, *saved));
  EXPECT_THAT(fewer.Scores(*smaller, "color"),
              Pointwise(FloatNear(1e-4F), problem.Scores(*saved, "color")));
}

TEST(AssignmentModel, RefusesWeightsOfOtherProblemsAndSaysWhatDiffers) {
  const auto saved = TrainedOn(Painting({}));
  const auto refuses = [&](const Painting::Order& order, const char* message) {
    EXPECT_THAT(
        LoadFor(Painting(order), *saved),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  };
  refuses({.groups = {"place", "texture"}},
          "weights have no variables 'texture', but 'place', 'color'");
  refuses({.place_features = {"depth"}},
          "none of the features of a place, such as 'depth', but others, such "
          "as 'height'");
  refuses({.kinds = {"tall"}}, "none of the node kinds, such as 'tall'");
  refuses({.node_features = {"taste"}}, "none of the node features");
  refuses({.edge_features = {}}, "1 edge features, expected 0");
  refuses({.global_features = {"tide"}}, "none of the global features");
}

TEST(AssignmentModel, TakesWhatFitsOfAnotherArchitecture) {
  const AssignmentSpec spec = SpecOf(Painting({}));
  const AssignmentModel from(spec, {.layers = 1}, 1);
  AssignmentModel to(spec, {.layers = 2}, 2);
  const Names left = to.CopyMatching(from);
  EXPECT_THAT(left, Contains("encoder.merge1.weight"));
  EXPECT_THAT(left, Not(Contains("place_score.weight")));
}

TEST(AssignmentModel, IsToldFromAPolicyForSequences) {
  const Painting problem({});
  const GameSpec game = {.observation = {.node_kinds = 2},
                         .actions = {.kind_names = {"a"}, .feature_names = {}}};
  EXPECT_THAT(
      AssignmentModel::Parse(Model(game, {}, 1).Serialize(), SpecOf(problem)),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("of a policy for sequences, expected one for "
                         "assignments")));
  EXPECT_THAT(
      Model::Parse(AssignmentModel(SpecOf(problem), {}, 1).Serialize(), game),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("of a policy for assignments, expected one for "
                         "sequences")));
}

// Bytes that are cut or changed anywhere are refused, or make no difference,
// but never end the process.
TEST(AssignmentModel, SurvivesBrokenBytes) {
  const Painting problem({});
  const AssignmentSpec spec = SpecOf(problem);
  const AssignmentModel model(spec, {.width = 4, .layers = 1}, 1);
  const std::string bytes = model.Serialize();
  for (size_t length = 0; length < bytes.size(); length += 211) {
    EXPECT_THAT(AssignmentModel::Parse(bytes.substr(0, length), spec),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("not the weights of a policy")));
  }
  int refused = 0;
  int unharmed = 0;
  for (size_t at = 0; at < bytes.size(); at += 29) {
    std::string broken = bytes;
    broken[at] = static_cast<char>(~broken[at]);
    const auto parsed = AssignmentModel::Parse(broken, spec);
    if (parsed.ok()) {
      // Between the files of the archive.
      ++unharmed;
      const auto weights = (*parsed)->network()->parameters();
      for (size_t i = 0; i < weights.size(); ++i) {
        EXPECT_TRUE(torch::equal(weights[i], model.network()->parameters()[i]))
            << at;
      }
    } else {
      ++refused;
      EXPECT_THAT(parsed, StatusIs(absl::StatusCode::kInvalidArgument,
                                   HasSubstr("not the weights of a policy")));
    }
  }
  EXPECT_GT(refused, 300);
  EXPECT_GT(unharmed, 0);
}

TEST(AssignmentModel, RefusesWeightsThatAreNotFinite) {
  const AssignmentSpec spec = SpecOf(Painting({}));
  const AssignmentModel model(spec, {.width = 4, .layers = 1}, 1);
  model.network()->parameters()[0].data()[0][0] =
      std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(AssignmentModel::Parse(model.Serialize(), spec),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("not the weights of a policy")));
}

}  // namespace
}  // namespace hone::learning
