#include "graphs/max_load.h"

#include <algorithm>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "tests/graphs/random_device_graph.h"
#include "tests/support/status_matchers.h"

namespace hone::graphs {
namespace {

using ::hone::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// 1 -> {2, 3}, 2 -> 4, 3 -> 4; two accelerators of 10 bytes and a CPU core.
DeviceGraph Diamond() {
  auto graph = DeviceGraph::Create(
      {10, 2, 1},
      {{1, "a", 1, 10, 4},
       {2, "b", 2, 20, 5},
       {3, "c", 4, 40, 6},
       {4, "d", 8, 80, 1, false, false, 9}},
      {{1, 2, 0.5}, {1, 3, 0.5}, {2, 4, 0.25}, {3, 4, 0.125}});
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

TEST(ComputeLoadsTest, OneDeviceHasNoTransfers) {
  const auto loads = ComputeLoads(Diamond(), {1, 1, 1, 1});
  ASSERT_TRUE(loads.ok());
  EXPECT_THAT(loads->loads, ElementsAre(0, 15, 0));
  EXPECT_EQ(loads->max_load, 15);
}

TEST(ComputeLoadsTest, AcceleratorsPayEachOutputOnce) {
  // Node 1's output leaves accelerator 0 once, although two nodes need it, and
  // enters accelerator 1 once.
  const auto loads = ComputeLoads(Diamond(), {0, 1, 1, 1});
  ASSERT_TRUE(loads.ok());
  EXPECT_THAT(loads->loads, ElementsAre(1.5, 14.5, 0));
}

TEST(ComputeLoadsTest, CpuCoresPayForNoTransfer) {
  // Accelerators pay for outputs from and to the core.
  const auto loads = ComputeLoads(Diamond(), {2, 0, 1, 2});
  ASSERT_TRUE(loads.ok());
  EXPECT_THAT(loads->loads,
              ElementsAre(2 + 0.5 + 0.25, 4 + 0.5 + 0.125, 10 + 80));
  EXPECT_EQ(loads->max_load, 90);
}

TEST(ComputeLoadsTest, RefusesOtherShapesAndDevices) {
  EXPECT_THAT(ComputeLoads(Diamond(), {0, 0, 0}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the assignment has 3 devices, expected one for each of "
                       "4 nodes"));
  EXPECT_THAT(ComputeLoads(Diamond(), {0, 0, 3, 0}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "node 3 is on device 3, expected a device from 0 to 2"));
  EXPECT_THAT(ComputeLoads(Diamond(), {0, 0, 0, -1}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "node 4 is on device -1, expected a device from 0 to "
                       "2"));
}

// The definition, device by device, with sets.
std::vector<double> LoadsByDefinition(const DeviceGraph& graph,
                                      const std::vector<int32_t>& assignment) {
  std::vector<double> loads;
  for (int32_t device = 0; device < graph.device_count(); ++device) {
    double load = 0;
    std::set<NodeIndex> transferred;
    for (NodeIndex node = 0; node < graph.size(); ++node) {
      if (assignment[node] == device) {
        load += graph.is_accelerator(device)
                    ? graph.node(node).accelerator_latency
                    : graph.node(node).cpu_latency;
      }
      for (const NodeIndex successor : graph.adjacency().successors(node)) {
        const int32_t from = assignment[node];
        const int32_t to = assignment[successor];
        if (from != to && (from == device || to == device)) {
          transferred.insert(node);
        }
      }
    }
    if (graph.is_accelerator(device)) {
      for (const NodeIndex node : transferred) load += graph.output_cost(node);
    }
    loads.push_back(load);
  }
  return loads;
}

TEST(ComputeLoadsTest, AgreesWithTheDefinitionOnRandomGraphs) {
  Rng rng(11);
  for (int round = 0; round < 2000; ++round) {
    const DeviceGraph graph = hone::testing::RandomDeviceGraph(
        rng, 1 + rng.Below(12), 1 + static_cast<int32_t>(rng.Below(4)),
        static_cast<int32_t>(1 + rng.Below(2)));
    std::vector<int32_t> assignment(graph.size());
    for (int32_t& device : assignment) {
      device = static_cast<int32_t>(
          rng.Below(static_cast<uint64_t>(graph.device_count())));
    }
    const auto loads = ComputeLoads(graph, assignment);
    ASSERT_TRUE(loads.ok());
    // Quarters: sums are exact in any order.
    EXPECT_EQ(loads->loads, LoadsByDefinition(graph, assignment));
    EXPECT_EQ(loads->max_load,
              *std::max_element(loads->loads.begin(), loads->loads.end()));
  }
}

TEST(CheckAssignmentTest, NamesEachViolation) {
  const DeviceGraph graph = Diamond();
  HONE_EXPECT_OK(CheckAssignment(graph, {0, 0, 1, 2}, Contiguity::kPipeline));
  EXPECT_THAT(CheckAssignment(graph, {0, 1, 1, 2}, Contiguity::kNone),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "accelerator 1 holds 11 bytes, expected at most 10"));
  EXPECT_THAT(CheckAssignment(graph, {0, 1, 2, 0}, Contiguity::kNone),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "node 4 is on accelerator 0, which does not support "
                       "it"));
  EXPECT_THAT(CheckAssignment(graph, {0}, Contiguity::kNone),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the assignment has 1 devices")));
  HONE_EXPECT_OK(CheckAssignment(graph, {2, 0, 1, 2}, Contiguity::kNone));
  EXPECT_THAT(CheckAssignment(graph, {2, 0, 1, 2}, Contiguity::kConvex),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the forward nodes of device 2 are not contiguous: a "
                       "path leaves it from node 1 to node 3 on device 1 and "
                       "comes back at node 4"));
  EXPECT_THAT(CheckAssignment(graph, {2, 0, 1, 2}, Contiguity::kPipeline),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the devices form no pipeline: nodes need "
                                 "outputs in the cycle 0 -> 2 -> 0")));
}

TEST(CheckAssignmentTest, NamesNodesOfADividedColorClass) {
  const auto graph = DeviceGraph::Create({10, 2, 0},
                                         {{1, "a", 1, 1, 1, true, false, 4},
                                          {2, "b", 1, 1, 1},
                                          {3, "c", 1, 1, 1, true, true, 4}},
                                         {});
  ASSERT_TRUE(graph.ok());
  HONE_EXPECT_OK(CheckAssignment(*graph, {0, 1, 0}, Contiguity::kNone));
  EXPECT_THAT(CheckAssignment(*graph, {0, 0, 1}, Contiguity::kNone),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "nodes 1 and 3 of color class 4 are on devices 0 and 1, "
                       "expected one device"));
}

TEST(CheckAssignmentTest, MemoryIsExactForIntegers) {
  const auto graph = DeviceGraph::Create(
      {17185374208.0, 1, 1},
      {{1, "a", 1, 1, 17185374207.0}, {2, "b", 1, 1, 1}, {3, "c", 1, 1, 1}},
      {});
  ASSERT_TRUE(graph.ok());
  HONE_EXPECT_OK(CheckAssignment(*graph, {0, 0, 1}, Contiguity::kNone));
  EXPECT_THAT(CheckAssignment(*graph, {0, 0, 0}, Contiguity::kNone),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("accelerator 0 holds 17185374209 bytes")));
}

}  // namespace
}  // namespace hone::graphs
