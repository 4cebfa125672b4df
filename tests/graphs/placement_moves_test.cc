#include "graphs/placement_moves.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/device_graph_json.h"
#include "graphs/max_load.h"
#include "graphs/placements.h"
#include "tests/graphs/random_device_graph.h"

namespace hone::graphs {
namespace {

using ::hone::testing::RandomDeviceGraph;

Placement Apply(Placement placement,
                const std::vector<PlacementMoves::NodeMove>& moves) {
  for (const auto& [node, device] : moves) placement[node] = device;
  return placement;
}

TEST(PlacementMoves, AreOfDistinctNodesThatAreElsewhere) {
  Rng rng(1);
  int proposals = 0;
  int valid = 0;
  for (int round = 0; round < 300; ++round) {
    const DeviceGraph graph = RandomDeviceGraph(
        rng, 3 + rng.Below(20), static_cast<int32_t>(1 + rng.Below(4)),
        static_cast<int32_t>(rng.Below(3)));
    const auto placement = PlaceSegments(graph, nullptr);
    if (!placement) continue;
    SCOPED_TRACE(PrintDeviceGraph(graph));
    const PlacementMoves moves(graph, Contiguity::kPipeline);
    const PlacementState state(graph, Contiguity::kPipeline, *placement);
    std::vector<PlacementMoves::NodeMove> change;
    for (int i = 0; i < 30; ++i) {
      moves.Propose(state, rng, change);
      if (change.empty()) continue;
      std::set<NodeIndex> nodes;
      for (const auto& [node, device] : change) {
        EXPECT_TRUE(nodes.insert(node).second);
        EXPECT_NE((*placement)[node], device);
        EXPECT_GE(device, 0);
        EXPECT_LT(device, graph.device_count());
      }
      ++proposals;
      if (CheckAssignment(graph, Apply(*placement, change),
                          Contiguity::kPipeline)
              .ok()) {
        ++valid;
      }
    }
  }
  EXPECT_GT(proposals, 2000);
  EXPECT_GT(valid, proposals / 4);
}

// A row of four devices with a node of 6 at the beginning and 1 each then.
TEST(PlacementMoves, LoadFlowsToWhereThereIsRoom) {
  std::vector<DeviceNode> nodes;
  std::vector<DeviceEdge> edges;
  Placement placement;
  const std::vector<std::vector<double>> devices = {
      {6, 4}, std::vector<double>(9, 1), std::vector<double>(9, 1), {1}};
  for (size_t d = 0; d < devices.size(); ++d) {
    for (const double time : devices[d]) {
      const auto id = static_cast<int64_t>(nodes.size());
      nodes.push_back({.id = id, .accelerator_latency = time});
      if (id > 0) edges.push_back({id - 1, id, 0.01});
      placement.push_back(static_cast<int32_t>(d));
    }
  }
  const auto graph = DeviceGraph::Create({100, 4, 0}, nodes, edges);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const PlacementMoves moves(*graph, Contiguity::kPipeline);
  const PlacementState state(*graph, Contiguity::kPipeline, placement);
  // The node of 4 can only leave if every other device passes load on.
  Rng rng(1);
  int flows = 0;
  std::vector<PlacementMoves::NodeMove> change;
  for (int i = 0; i < 2000; ++i) {
    moves.Propose(state, rng, change);
    const Placement after = Apply(placement, change);
    const auto loads = ComputeLoads(*graph, after);
    ASSERT_TRUE(loads.ok());
    if (loads->max_load > 10.1 || after[1] != 1) continue;
    EXPECT_TRUE(CheckAssignment(*graph, after, Contiguity::kPipeline).ok());
    EXPECT_LT(loads->loads[0], 7);
    EXPECT_GT(loads->loads[3], 1);
    ++flows;
  }
  EXPECT_GT(flows, 0);
}

}  // namespace
}  // namespace hone::graphs
