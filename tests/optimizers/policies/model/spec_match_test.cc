#include "optimizers/policies/model/spec_match.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone::optimizers::policies {
namespace {

using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

GameSpec WithActions(const std::vector<std::string>& names) {
  return {.observation = {.node_kinds = 2, .global_features = 1},
          .move_kinds = static_cast<int32_t>(names.size()) + 1,
          .action_names = names};
}

// A spec without names.
GameSpec WithMoves(int32_t count) {
  return {.observation = {.node_kinds = 2, .global_features = 1},
          .move_kinds = count};
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

TEST(MatchSpecs, MatchesByIndexWhereThereAreNoNames) {
  for (const GameSpec& saved : {WithMoves(3), WithActions({"a", "b"})}) {
    for (const GameSpec& spec : {WithMoves(3), WithActions({"b", "new"})}) {
      if (!saved.action_names.empty() && !spec.action_names.empty()) continue;
      HONE_ASSERT_OK_AND_ASSIGN(const SpecMatch match, MatchSpecs(saved, spec));
      EXPECT_THAT(match.move_kinds, ElementsAre(0, 1, 2));
    }
  }
  EXPECT_THAT(MatchSpecs(WithMoves(3), WithActions({"a"})),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("3 moves, expected"),
                             HasSubstr("global features, 2 moves"))));
}

TEST(MatchSpecs, MatchesNodeKindsAndGlobalFeaturesByName) {
  GameSpec saved = WithMoves(3);
  saved.observation.node_kind_names = {"add", "dot"};
  saved.observation.global_feature_names = {"size"};
  GameSpec spec = WithMoves(3);
  spec.observation = {.node_kinds = 3,
                      .global_features = 2,
                      .node_kind_names = {"dot", "new", "add"},
                      .global_feature_names = {"new", "size"}};
  HONE_ASSERT_OK_AND_ASSIGN(const SpecMatch match, MatchSpecs(saved, spec));
  EXPECT_THAT(match.node_kinds, ElementsAre(1, kUnknown, 0));
  EXPECT_THAT(match.global_features, ElementsAre(kUnknown, 0));
}

TEST(MatchSpecs, RefusesOtherObservations) {
  for (auto change : std::vector<void (*)(space::ObservationSpec&)>{
           [](auto& spec) { ++spec.node_kinds; },
           [](auto& spec) { ++spec.node_features; },
           [](auto& spec) { ++spec.global_features; }}) {
    GameSpec spec = WithActions({"a", "b"});
    change(spec.observation);
    EXPECT_THAT(MatchSpecs(WithActions({"a", "b"}), spec),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("weights are for 2 node kinds, 0 node "
                                   "features, 1 global features, 3 moves")));
  }
}

TEST(MatchSpecs, RefusesWeightsThatKnowNoneOfTheActions) {
  EXPECT_THAT(MatchSpecs(WithActions({"a", "b"}), WithActions({"x", "y"})),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("none of the actions, such as 'x', but "
                                 "others, such as 'a'")));
}

}  // namespace
}  // namespace hone::optimizers::policies
