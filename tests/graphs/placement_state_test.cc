#include "graphs/placement_state.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/device_graph_json.h"
#include "graphs/max_load.h"
#include "tests/graphs/random_device_graph.h"
#include "tests/support/status_matchers.h"

namespace hone::graphs {
namespace {

using ::hone::testing::RandomDeviceGraph;
using ::testing::ElementsAreArray;
using ::testing::UnorderedElementsAreArray;

using Assignment = std::vector<int32_t>;

// The edges of either part; others do not matter to contiguity.
std::vector<std::pair<NodeIndex, NodeIndex>> PartEdges(
    const DeviceGraph& graph) {
  std::vector<std::pair<NodeIndex, NodeIndex>> edges;
  for (NodeIndex node = 0; node < graph.size(); ++node) {
    for (const NodeIndex after : graph.adjacency().successors(node)) {
      if (graph.node(node).is_backward == graph.node(after).is_backward) {
        edges.emplace_back(node, after);
      }
    }
  }
  return edges;
}

// The nodes that accelerators do not support, or apart from the one before in
// their color class.
int64_t MisplacedNodes(const DeviceGraph& graph, const Assignment& devices) {
  int64_t count = 0;
  std::map<int64_t, int32_t> device_before;
  for (size_t i = 0; i < graph.size(); ++i) {
    const DeviceNode& node = graph.nodes()[i];
    if (!node.supported_on_accelerator && graph.is_accelerator(devices[i])) {
      ++count;
    }
    if (!node.color_class) continue;
    const auto before = device_before.find(*node.color_class);
    if (before != device_before.end() && before->second != devices[i]) ++count;
    device_before[*node.color_class] = devices[i];
  }
  return count;
}

// The nodes at the end of a path that left their device.
int64_t ReturningNodes(const DeviceGraph& graph, const Assignment& devices) {
  const size_t n = graph.size();
  std::vector<std::vector<bool>> reaches(n, std::vector<bool>(n));
  for (const auto& [a, b] : PartEdges(graph)) reaches[a][b] = true;
  for (size_t k = 0; k < n; ++k) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) {
        if (reaches[i][k] && reaches[k][j]) reaches[i][j] = true;
      }
    }
  }
  int64_t count = 0;
  for (size_t end = 0; end < n; ++end) {
    bool returns = false;
    for (size_t start = 0; start < n; ++start) {
      for (size_t between = 0; between < n; ++between) {
        returns |= devices[start] == devices[end] &&
                   devices[between] != devices[end] &&
                   reaches[start][between] && reaches[between][end];
      }
    }
    count += returns ? 1 : 0;
  }
  return count;
}

// The edges against `order`, with the backward part along it or against it.
int64_t EdgesAgainst(const DeviceGraph& graph, const Assignment& devices,
                     const std::vector<int32_t>& order, bool same_direction) {
  const auto place = [&](NodeIndex node) {
    return std::find(order.begin(), order.end(), devices[node]) - order.begin();
  };
  int64_t count = 0;
  for (const auto& [a, b] : PartEdges(graph)) {
    const bool reversed = graph.node(a).is_backward && !same_direction;
    if (reversed ? place(a) < place(b) : place(a) > place(b)) ++count;
  }
  return count;
}

int64_t FewestEdgesAgainst(const DeviceGraph& graph,
                           const Assignment& devices) {
  std::vector<int32_t> order(static_cast<size_t>(graph.device_count()));
  std::iota(order.begin(), order.end(), 0);
  int64_t fewest = std::numeric_limits<int64_t>::max();
  do {
    for (const bool same_direction : {false, true}) {
      fewest =
          std::min(fewest, EdgesAgainst(graph, devices, order, same_direction));
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return fewest;
}

double ExcessBytes(const DeviceGraph& graph, const Assignment& devices) {
  double total = 0;
  std::vector<double> bytes(static_cast<size_t>(graph.device_count()));
  for (size_t i = 0; i < graph.size(); ++i) {
    total += graph.nodes()[i].size_bytes;
    bytes[static_cast<size_t>(devices[i])] += graph.nodes()[i].size_bytes;
  }
  double excess = 0;
  for (int32_t d = 0; d < graph.limits().accelerators; ++d) {
    excess += std::max(0.0, bytes[static_cast<size_t>(d)] -
                                graph.limits().max_accelerator_bytes);
  }
  return excess > 0 ? excess / total : 0;
}

void ExpectIsAsComputed(const PlacementState& state, Contiguity contiguity,
                        const Assignment& devices) {
  const DeviceGraph& graph = state.graph();
  EXPECT_THAT(state.assignment(), ElementsAreArray(devices));
  // Latencies are quarters, whose sums are exact.
  HONE_ASSERT_OK_AND_ASSIGN(const DeviceLoads loads,
                            ComputeLoads(graph, devices));
  EXPECT_THAT(state.loads(), ElementsAreArray(loads.loads));
  EXPECT_EQ(state.max_load(), loads.max_load);

  for (int32_t d = 0; d < graph.device_count(); ++d) {
    size_t nodes = 0;
    std::vector<NodeIndex> boundary;
    for (NodeIndex node = 0; node < graph.size(); ++node) {
      if (devices[node] != d) continue;
      ++nodes;
      bool is_at_boundary = false;
      for (const auto& others : {graph.adjacency().successors(node),
                                 graph.adjacency().predecessors(node)}) {
        for (const NodeIndex other : others) {
          is_at_boundary |= devices[other] != d;
        }
      }
      if (is_at_boundary) boundary.push_back(node);
    }
    EXPECT_EQ(state.node_count(d), nodes);
    EXPECT_THAT(state.boundary(d), UnorderedElementsAreArray(boundary));
  }

  const auto nodes = static_cast<double>(graph.size());
  const double violation = state.violation();
  double expected =
      static_cast<double>(MisplacedNodes(graph, devices)) / nodes +
      ExcessBytes(graph, devices);
  if (contiguity == Contiguity::kConvex) {
    expected += static_cast<double>(ReturningNodes(graph, devices)) / nodes;
  }
  if (contiguity == Contiguity::kPipeline && !graph.edges().empty()) {
    // Some order that has few edges against it, none if there is such an order.
    const auto edges = static_cast<double>(graph.edges().size());
    const auto fewest = static_cast<double>(FewestEdgesAgainst(graph, devices));
    const double against = std::round((violation - expected) * edges);
    EXPECT_GE(against, fewest);
    EXPECT_LE(against, static_cast<double>(PartEdges(graph).size()) / 2);
    EXPECT_EQ(against == 0, fewest == 0);
    expected += against / edges;
    bool same_direction = false;
    const std::vector<int32_t> order = state.DeviceOrder(same_direction);
    EXPECT_EQ(static_cast<double>(
                  EdgesAgainst(graph, devices, order, same_direction)),
              against);
  }
  EXPECT_NEAR(violation, expected, 1e-12);
  EXPECT_EQ(violation == 0, CheckAssignment(graph, devices, contiguity).ok());
}

int32_t RandomDevice(const DeviceGraph& graph, Rng& rng) {
  return static_cast<int32_t>(
      rng.Below(static_cast<uint64_t>(graph.device_count())));
}

class PlacementStateTest : public ::testing::TestWithParam<Contiguity> {};

// Moves that are tried are made and taken back, others stay.
TEST_P(PlacementStateTest, IsAfterAnyMovesAsComputedAnew) {
  Rng rng(11);
  int valid = 0;
  int64_t states = 0;
  for (int round = 0; round < 40; ++round) {
    const auto accelerators = static_cast<int32_t>(rng.Below(4));
    const auto cpus =
        static_cast<int32_t>((accelerators == 0 ? 1 : 0) + rng.Below(3));
    const DeviceGraph graph =
        RandomDeviceGraph(rng, 2 + rng.Below(12), accelerators, cpus);
    SCOPED_TRACE(PrintDeviceGraph(graph));
    Assignment devices(graph.size());
    for (int32_t& device : devices) device = RandomDevice(graph, rng);
    PlacementState state(graph, GetParam(), devices);
    ExpectIsAsComputed(state, GetParam(), devices);
    for (int step = 0; step < 25; ++step) {
      // One step in four gathers nodes on one device, so that some assignments
      // are valid.
      const bool gathers = rng.Below(4) == 0;
      const int32_t home = RandomDevice(graph, rng);
      const Assignment before = devices;
      const PlacementState::Sums sums = state.sums();
      for (uint64_t i = 0; i < (gathers ? graph.size() : 1 + rng.Below(3));
           ++i) {
        const size_t node = gathers ? i : rng.Below(graph.size());
        devices[node] = gathers ? home : RandomDevice(graph, rng);
        state.Move(static_cast<NodeIndex>(node), devices[node]);
      }
      ExpectIsAsComputed(state, GetParam(), devices);
      ++states;
      valid += state.violation() == 0 ? 1 : 0;
      const PlacementState anew(graph, GetParam(), devices);
      EXPECT_EQ(state.violation(), anew.violation());
      if (rng.Below(2) == 0) {
        for (NodeIndex node = 0; node < graph.size(); ++node) {
          state.Move(node, before[node]);
        }
        state.set_sums(sums);
        devices = before;
        ExpectIsAsComputed(state, GetParam(), devices);
      }
      if (HasFailure()) return;
    }
  }
  // Neither verdict is rare.
  EXPECT_GT(valid, states / 20);
  EXPECT_LT(valid, states * 9 / 10);
}

INSTANTIATE_TEST_SUITE_P(All, PlacementStateTest,
                         ::testing::Values(Contiguity::kNone,
                                           Contiguity::kConvex,
                                           Contiguity::kPipeline),
                         [](const auto& param) {
                           return std::string(ContiguityName(param.param));
                         });

// Sums of tenths are rounded: there and back leaves a trace that set_sums
// removes.
TEST(PlacementState, LeavesNoTraceOfRoundingWhereSumsAreSetBack) {
  std::vector<DeviceNode> nodes;
  std::vector<DeviceEdge> edges;
  for (int64_t i = 0; i < 8; ++i) {
    nodes.push_back({.id = i,
                     .accelerator_latency = 0.1 + 0.3 * static_cast<double>(i),
                     .cpu_latency = 0.7 * static_cast<double>(i),
                     .size_bytes = 0.1});
    if (i > 0) edges.push_back({i - 1, i, 0.1 * static_cast<double>(i)});
  }
  HONE_ASSERT_OK_AND_ASSIGN(const DeviceGraph graph,
                            DeviceGraph::Create({10, 2, 1}, nodes, edges));
  const Assignment devices = {0, 0, 1, 1, 2, 2, 0, 1};
  PlacementState state(graph, Contiguity::kNone, devices);
  const std::vector<double> loads(state.loads().begin(), state.loads().end());
  const PlacementState::Sums sums = state.sums();
  Rng rng(5);
  for (int step = 0; step < 200; ++step) {
    state.Move(static_cast<NodeIndex>(rng.Below(8)), RandomDevice(graph, rng));
  }
  for (NodeIndex node = 0; node < 8; ++node) state.Move(node, devices[node]);
  EXPECT_THAT(state.loads(),
              ::testing::Pointwise(::testing::DoubleNear(1e-9), loads));
  state.set_sums(sums);
  EXPECT_THAT(state.loads(), ElementsAreArray(loads));
}

}  // namespace
}  // namespace hone::graphs
