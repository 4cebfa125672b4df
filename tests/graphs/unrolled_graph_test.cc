#include "graphs/unrolled_graph.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone::graphs {
namespace {

using ::hone::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

OpGraph Unrolled(int32_t layers, int32_t steps) {
  auto graph = MakeUnrolledGraph({.layers = layers, .steps = steps});
  HONE_EXPECT_OK(graph);
  return *std::move(graph);
}

TEST(UnrolledGraph, SizesAreLinear) {
  const auto size = [](int32_t layers, int32_t steps) {
    return static_cast<int64_t>(Unrolled(layers, steps).size());
  };
  // Multiples of eight, so that as many cells attend in each part.
  const int64_t by_step = size(4, 24) - size(4, 16);
  EXPECT_EQ(size(4, 32) - size(4, 24), by_step);
  EXPECT_EQ(size(4, 800) - size(4, 792), by_step);
  const int64_t by_layer = size(5, 16) - size(4, 16);
  EXPECT_EQ(size(6, 16) - size(5, 16), by_layer);
  EXPECT_EQ(size(3, 16) - size(2, 16), by_layer);
  EXPECT_NEAR(static_cast<double>(size(8, 256)) / (8 * 256), 21, 1);
  // And so are the edges.
  const OpGraph large = Unrolled(8, 256);
  EXPECT_LT(large.edges().size(), 3 * large.size());
}

TEST(UnrolledGraph, NodesComeAfterWhatTheyRead) {
  for (const auto& [layers, steps] : std::vector<std::pair<int32_t, int32_t>>{
           {1, 1}, {1, 8}, {2, 1}, {3, 7}, {2, 17}}) {
    SCOPED_TRACE(absl::StrCat(layers, " layers, ", steps, " steps"));
    const OpGraph graph = Unrolled(layers, steps);
    for (size_t i = 0; i < graph.size(); ++i) {
      EXPECT_EQ(graph.node(static_cast<NodeIndex>(i)).id,
                static_cast<int64_t>(i));
    }
    for (const OpEdge& edge : graph.edges()) {
      EXPECT_LT(edge.from_id, edge.to_id);
      EXPECT_EQ(edge.bytes,
                graph.node(static_cast<NodeIndex>(edge.from_id)).output_bytes);
      EXPECT_GT(edge.bytes, 0);
    }
  }
}

TEST(UnrolledGraph, EachLayerIsAScopeThatUpdatesItsWeights) {
  const OpGraph graph = Unrolled(3, 10);
  std::set<std::string> scopes;
  std::vector<std::string> outputs;
  for (const OpNode& node : graph.nodes()) {
    scopes.insert(node.scope);
    if (node.is_output) outputs.push_back(node.scope);
    EXPECT_EQ(node.parameter_bytes > 0, node.opcode == "parameter");
  }
  EXPECT_THAT(scopes, ElementsAre("layer0", "layer1", "layer2"));
  std::sort(outputs.begin(), outputs.end());
  EXPECT_THAT(outputs, ElementsAre("layer0", "layer0", "layer1", "layer1",
                                   "layer2", "layer2"));
}

TEST(UnrolledGraph, EveryEighthStepReadsEightStatesBelow) {
  const auto attending = [](const OpGraph& graph) {
    int count = 0;
    for (size_t i = 0; i < graph.size(); ++i) {
      const auto inputs =
          graph.adjacency().predecessors(static_cast<NodeIndex>(i));
      if (inputs.size() != 8) continue;
      ++count;
      for (const NodeIndex input : inputs) {
        EXPECT_NE(graph.node(input).scope,
                  graph.node(static_cast<NodeIndex>(i)).scope);
      }
    }
    return count;
  };
  // Nothing is below the first layer.
  EXPECT_EQ(attending(Unrolled(1, 24)), 0);
  EXPECT_EQ(attending(Unrolled(3, 7)), 0);
  EXPECT_EQ(attending(Unrolled(3, 8)), 2);
  EXPECT_EQ(attending(Unrolled(3, 23)), 4);
  EXPECT_EQ(attending(Unrolled(3, 24)), 6);
}

TEST(UnrolledGraph, WorkGrowsWithBatchAndWidth) {
  const auto flops = [](double batch, double width) {
    const auto graph = MakeUnrolledGraph(
        {.layers = 2, .steps = 8, .batch = batch, .width = width});
    HONE_EXPECT_OK(graph);
    double products = 0;
    for (const OpNode& node : graph->nodes()) {
      if (node.opcode == "dot") products += node.flops;
    }
    return products;
  };
  EXPECT_DOUBLE_EQ(flops(16, 64), 2 * flops(8, 64));
  EXPECT_DOUBLE_EQ(flops(8, 128), 4 * flops(8, 64));
}

TEST(UnrolledGraph, IsDeterministic) {
  EXPECT_TRUE(Unrolled(2, 9) == Unrolled(2, 9));
}

TEST(UnrolledGraph, RefusesSizesThatAreNotPositive) {
  for (const UnrolledOptions& options : std::vector<UnrolledOptions>{
           {.layers = 0},
           {.layers = -1},
           {.steps = 0},
           {.steps = -5},
           {.batch = 0},
           {.batch = std::numeric_limits<double>::quiet_NaN()},
           {.width = 0},
           {.width = -1}}) {
    EXPECT_THAT(MakeUnrolledGraph(options),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("expected more than 0 of each")));
  }
  EXPECT_THAT(
      MakeUnrolledGraph({.layers = 1,
                         .steps = 1,
                         .width = std::numeric_limits<double>::infinity()}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("nodes[0]")));
}

}  // namespace
}  // namespace hone::graphs
