#include "learning/networks/spec_match.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone::learning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

GameSpec WithActions(const std::vector<std::string>& names) {
  return {.observation = {.node_kinds = 2, .global_features = 1},
          .actions = {.kind_names = names, .feature_names = {"size"}}};
}

TEST(MatchSpecs, MatchesActionsByNameAndStopWithStop) {
  HONE_ASSERT_OK_AND_ASSIGN(const SpecMatch match,
                            MatchSpecs(WithActions({"a", "b", "c"}),
                                       WithActions({"c", "a", "new", "b"})));
  EXPECT_THAT(match.move_kinds, ElementsAre(2, 0, kUnknown, 1, 3));
  EXPECT_THAT(match.node_kinds, ElementsAre(0, 1));
  EXPECT_THAT(match.global_features, ElementsAre(0));
}

TEST(MatchSpecs, MatchesEqualNamesInTheirOrder) {
  HONE_ASSERT_OK_AND_ASSIGN(const SpecMatch match,
                            MatchSpecs(WithActions({"a", "b", "a"}),
                                       WithActions({"a", "a", "a", "b"})));
  EXPECT_THAT(match.move_kinds, ElementsAre(0, 2, kUnknown, 1, 3));
}

TEST(MatchSpecs, DoesNotTakeAnActionCalledStopForTheStopMove) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const SpecMatch match,
      MatchSpecs(WithActions({"a", "b"}), WithActions({"stop", "b"})));
  EXPECT_THAT(match.move_kinds, ElementsAre(kUnknown, 1, 2));
}

TEST(MatchSpecs, MatchesNodeKindsAndFeaturesByName) {
  GameSpec saved = WithActions({"a"});
  saved.observation.node_kind_names = {"add", "dot"};
  saved.observation.global_feature_names = {"size"};
  saved.observation.node_features = 1;
  saved.observation.node_feature_names = {"rank"};
  GameSpec spec = WithActions({"a"});
  spec.actions.feature_names = {"depth", "size"};
  spec.observation = {.node_kinds = 3,
                      .node_features = 2,
                      .global_features = 2,
                      .node_kind_names = {"dot", "new", "add"},
                      .node_feature_names = {"users", "rank"},
                      .global_feature_names = {"new", "size"}};
  HONE_ASSERT_OK_AND_ASSIGN(const SpecMatch match, MatchSpecs(saved, spec));
  EXPECT_THAT(match.node_kinds, ElementsAre(1, kUnknown, 0));
  EXPECT_THAT(match.node_features, ElementsAre(kUnknown, 0));
  EXPECT_THAT(match.global_features, ElementsAre(kUnknown, 0));
  EXPECT_THAT(match.move_features, ElementsAre(kUnknown, 0));
}

TEST(MatchSpecs, RefusesOtherObservationsWithoutNames) {
  const auto refuses = [](void (*change)(space::ObservationSpec&),
                          const char* message) {
    GameSpec spec = WithActions({"a", "b"});
    change(spec.observation);
    EXPECT_THAT(
        MatchSpecs(WithActions({"a", "b"}), spec),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  };
  refuses([](auto& spec) { ++spec.node_kinds; }, "2 node kinds, expected 3");
  refuses([](auto& spec) { ++spec.node_features; },
          "0 node features, expected 1");
  refuses([](auto& spec) { ++spec.edge_features; },
          "0 edge features, expected 1");
  refuses([](auto& spec) { ++spec.global_features; },
          "1 global features, expected 2");
}

TEST(MatchSpecs, RefusesWeightsThatKnowNoneOfTheActions) {
  EXPECT_THAT(MatchSpecs(WithActions({"a", "b"}), WithActions({"x", "y"})),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("none of the actions, such as 'x', but "
                                 "others, such as 'a'")));
}

}  // namespace
}  // namespace hone::learning
