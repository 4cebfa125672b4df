#include "graphs/generated_graph.h"

#include <cstdint>
#include <set>

#include "gtest/gtest.h"

#include "graphs/max_load.h"
#include "graphs/placements.h"

namespace hone::graphs {
namespace {

TEST(GenerateDeviceGraph, IsTheSameForTheSameSeed) {
  EXPECT_EQ(GenerateDeviceGraph(7, 100), GenerateDeviceGraph(7, 100));
  EXPECT_FALSE(GenerateDeviceGraph(7, 100) == GenerateDeviceGraph(8, 100));
}

TEST(GenerateDeviceGraph, KeepsToItsSize) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    for (const int32_t most : {20, 200}) {
      const size_t nodes = GenerateDeviceGraph(seed, most).size();
      EXPECT_GE(nodes, 4);
      // The last block may go beyond it, twice with a backward pass.
      EXPECT_LE(nodes, static_cast<size_t>(most) + 80);
    }
  }
}

TEST(GenerateDeviceGraph, GraphsCanBePlaced) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const DeviceGraph graph = GenerateDeviceGraph(seed, 150);
    const auto placement = PlaceGreedily(graph);
    ASSERT_TRUE(placement.has_value()) << seed;
    EXPECT_TRUE(CheckAssignment(graph, *placement, Contiguity::kPipeline).ok())
        << seed;
  }
}

TEST(GenerateDeviceGraph, CoversWhatPublicGraphsHave) {
  int with_backward = 0;
  int with_free_nodes = 0;
  int with_branches = 0;
  int with_dear_transfers = 0;
  std::set<int32_t> accelerators;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const DeviceGraph graph = GenerateDeviceGraph(seed, 150);
    accelerators.insert(graph.limits().accelerators);
    bool backward = false, branches = false;
    size_t free_nodes = 0;
    double time = 0, transfers = 0;
    for (size_t i = 0; i < graph.size(); ++i) {
      const auto index = static_cast<NodeIndex>(i);
      backward = backward || graph.node(index).is_backward;
      branches = branches || graph.adjacency().successors(index).size() > 1;
      if (graph.node(index).accelerator_latency == 0) ++free_nodes;
      time += graph.node(index).accelerator_latency;
      transfers += graph.output_cost(index);
    }
    with_backward += backward ? 1 : 0;
    with_branches += branches ? 1 : 0;
    with_free_nodes += free_nodes > graph.size() / 4 ? 1 : 0;
    with_dear_transfers += transfers > time ? 1 : 0;
  }
  EXPECT_GT(with_backward, 15);
  EXPECT_LT(with_backward, 60);
  EXPECT_GT(with_free_nodes, 15);
  EXPECT_LT(with_free_nodes, 85);
  EXPECT_GT(with_dear_transfers, 15);
  EXPECT_LT(with_dear_transfers, 60);
  EXPECT_GT(with_branches, 60);
  EXPECT_EQ(accelerators.size(), 7);
}

}  // namespace
}  // namespace hone::graphs
