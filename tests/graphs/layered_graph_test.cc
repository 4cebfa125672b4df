#include "graphs/layered_graph.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"

#include "graphs/max_load.h"
#include "graphs/placements.h"
#include "tests/support/status_matchers.h"

namespace hone::graphs {
namespace {

TEST(LayeredGraph, HasTheNodesAskedFor) {
  for (const size_t nodes : {1u, 2u, 3u, 17u, 100u, 1001u, 20'000u}) {
    const DeviceGraph graph = MakeLayeredGraph(nodes, 5);
    EXPECT_EQ(graph.size(), nodes);
    EXPECT_GE(graph.edges().size() + 1, nodes);
    EXPECT_LT(graph.edges().size(), 2 * nodes);
  }
}

TEST(LayeredGraph, DependsOnTheSeedAlone) {
  EXPECT_EQ(MakeLayeredGraph(500, 1), MakeLayeredGraph(500, 1));
  EXPECT_FALSE(MakeLayeredGraph(500, 1) == MakeLayeredGraph(500, 2));
}

TEST(LayeredGraph, LooksLikeANetwork) {
  const DeviceGraph graph = MakeLayeredGraph(10'000, 3);
  std::vector<double> times;
  double work = 0;
  size_t heavy = 0;
  double heavy_work = 0;
  double bytes = 0;
  for (const DeviceNode& node : graph.nodes()) {
    EXPECT_GT(node.accelerator_latency, 0);
    EXPECT_GT(node.cpu_latency, node.accelerator_latency);
    EXPECT_TRUE(node.supported_on_accelerator);
    work += node.accelerator_latency;
    bytes += node.size_bytes;
    if (node.size_bytes == 0) continue;
    ++heavy;
    heavy_work += node.accelerator_latency;
  }
  EXPECT_GT(heavy, graph.size() / 6);
  EXPECT_LT(heavy, graph.size() / 2);
  EXPECT_GT(heavy_work, 0.9 * work);
  EXPECT_NEAR(graph.limits().max_accelerator_bytes * 8, 1.5 * bytes,
              1e-3 * bytes);
  // One source, branches within layers, and layers in a row.
  size_t sources = 0;
  size_t forks = 0;
  std::vector<size_t> depth(graph.size());
  for (const NodeIndex node : graph.topological_order()) {
    const auto before = graph.adjacency().predecessors(node);
    if (before.empty()) ++sources;
    if (graph.adjacency().successors(node).size() > 1) ++forks;
    for (const NodeIndex other : before) {
      depth[node] = std::max(depth[node], depth[other] + 1);
    }
  }
  EXPECT_EQ(sources, 1u);
  EXPECT_GT(forks, graph.size() / 60);
  EXPECT_GT(*std::max_element(depth.begin(), depth.end()), graph.size() / 10);
}

TEST(LayeredGraph, CanBePlaced) {
  for (const uint64_t seed : {1u, 2u, 3u}) {
    const DeviceGraph graph = MakeLayeredGraph(3000, seed);
    for (const auto& placement :
         {PlaceGreedily(graph), PlaceSegments(graph, nullptr)}) {
      ASSERT_TRUE(placement.has_value());
      HONE_EXPECT_OK(CheckAssignment(graph, *placement, Contiguity::kPipeline));
    }
  }
}

}  // namespace
}  // namespace hone::graphs
