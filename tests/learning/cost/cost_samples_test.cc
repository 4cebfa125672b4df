#include "learning/cost/cost_samples.h"

#include <limits>
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone::learning {
namespace {

using ::hone::testing::IsOk;
using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

CostSpec Spec() {
  return {.graph = {.node_kinds = 2,
                    .node_features = 1,
                    .edge_features = 1,
                    .global_features = 1,
                    .node_kind_names = {"unknown", "add"}},
          .config_names = {"rows"},
          .heads = {{"time"}, {"tile", CostTarget::kOrder}},
          .features = "1"};
}

space::Observation Graph() {
  return {.node_kinds = {1, 0},
          .node_features = {1, 2},
          .edge_sources = {0},
          .edge_targets = {1},
          .edge_features = {3},
          .global_features = {4}};
}

absl::Status Check(const space::Observation& graph) {
  const float config[] = {1};
  const CostQuery query = {&graph, config};
  return CheckQueries(Spec(), {&query, 1});
}

TEST(CostSpec, NeedsNamedHeadsAndAnUnknownKind) {
  EXPECT_THAT(CheckCostSpec(Spec()), IsOk());
  CostSpec spec = Spec();
  spec.graph.node_kind_names = {"add", "unknown"};
  EXPECT_THAT(CheckCostSpec(spec),
              StatusIs(kInvalid,
                       HasSubstr("node kind 0 is 'add', expected 'unknown'")));
  spec = Spec();
  spec.graph.node_feature_names = {"a", "b"};
  EXPECT_THAT(
      CheckCostSpec(spec),
      StatusIs(kInvalid, HasSubstr("2 names of node features, expected 1")));
  spec = Spec();
  spec.heads = {};
  EXPECT_THAT(CheckCostSpec(spec), StatusIs(kInvalid, HasSubstr("no heads")));
  for (const char* name : {"time", "", "a.b"}) {
    spec.heads = {{"time"}, {name}};
    EXPECT_THAT(CheckCostSpec(spec),
                StatusIs(kInvalid, HasSubstr("expected distinct names")));
  }
}

TEST(FindHead, ListsTheHeads) {
  HONE_ASSERT_OK_AND_ASSIGN(const int32_t tile, FindHead(Spec(), "tile"));
  EXPECT_EQ(tile, 1);
  EXPECT_THAT(FindHead(Spec(), "flags"),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("'flags', expected one of: time, tile")));
}

TEST(CheckQueries, NamesWhatDoesNotFit) {
  EXPECT_THAT(Check(Graph()), IsOk());
  EXPECT_THAT(Check({.global_features = {1}}), IsOk());
  space::Observation graph = Graph();
  graph.node_kinds[1] = 2;
  EXPECT_THAT(Check(graph),
              StatusIs(kInvalid, HasSubstr("node of kind 2, expected 0 to 1")));
  graph = Graph();
  graph.node_kinds[0] = -1;
  EXPECT_THAT(Check(graph), StatusIs(kInvalid, HasSubstr("kind -1")));
  graph = Graph();
  graph.node_features = {1};
  EXPECT_THAT(Check(graph),
              StatusIs(kInvalid, HasSubstr("1 node features, expected 2")));
  graph = Graph();
  graph.node_features[1] = kNaN;
  EXPECT_THAT(Check(graph),
              StatusIs(kInvalid, HasSubstr("expected finite numbers")));
  graph = Graph();
  graph.edge_targets = {2};
  EXPECT_THAT(Check(graph),
              StatusIs(kInvalid, HasSubstr("edge to node 2, expected 0 to 1")));
  graph = Graph();
  graph.edge_sources = {-1};
  EXPECT_THAT(Check(graph), StatusIs(kInvalid, HasSubstr("edge from node -1")));
  graph = Graph();
  graph.edge_targets = {};
  EXPECT_THAT(Check(graph), StatusIs(kInvalid, HasSubstr("0 ends of edges")));
  graph = Graph();
  graph.edge_features = {};
  EXPECT_THAT(Check(graph), StatusIs(kInvalid, HasSubstr("0 edge features")));
  graph = Graph();
  graph.global_features = {1, 2};
  EXPECT_THAT(Check(graph), StatusIs(kInvalid, HasSubstr("global features")));
  const CostQuery none[] = {{}};
  EXPECT_THAT(CheckQueries(Spec(), none),
              StatusIs(kInvalid, HasSubstr("without a graph")));
  graph = Graph();
  const CostQuery no_config[] = {{&graph, {}}};
  EXPECT_THAT(CheckQueries(Spec(), no_config),
              StatusIs(kInvalid, HasSubstr("0 features of a configuration")));
}

TEST(CheckGroups, NamesWhatDoesNotFit) {
  const CostGroup good = {
      .program = "p",
      .head = 1,
      .samples = {{std::make_shared<const space::Observation>(Graph()), {1}}}};
  const auto check = [](const CostGroup& group) {
    return CheckGroups(Spec(), {&group, 1});
  };
  EXPECT_THAT(check(good), IsOk());
  CostGroup group = good;
  group.head = 2;
  EXPECT_THAT(check(group),
              StatusIs(kInvalid, HasSubstr("head 2, expected 0 to 1")));
  group = good;
  group.samples = {};
  EXPECT_THAT(check(group), StatusIs(kInvalid, HasSubstr("'p' without")));
  group = good;
  group.weight = -1;
  EXPECT_THAT(check(group), StatusIs(kInvalid, HasSubstr("weight -1")));
  group = good;
  group.samples[0].log_time = std::numeric_limits<double>::infinity();
  EXPECT_THAT(check(group), StatusIs(kInvalid, HasSubstr("time inf")));
  group = good;
  group.samples[0].config = {};
  EXPECT_THAT(check(group), StatusIs(kInvalid, HasSubstr("configuration")));
}

}  // namespace
}  // namespace hone::learning
