#include "graphs/contiguity.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/max_load.h"
#include "tests/graphs/contiguity_by_definition.h"
#include "tests/graphs/random_device_graph.h"
#include "tests/support/status_matchers.h"

namespace hone::graphs {
namespace {

using ::hone::testing::IsConvexByDefinition;
using ::hone::testing::IsPipelineByDefinition;
using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

TEST(ContiguityTest, AgreesWithTheDefinitionsOnRandomGraphs) {
  Rng rng(5);
  int convex = 0;
  int pipelines = 0;
  int only_convex = 0;
  for (int round = 0; round < 4000; ++round) {
    const DeviceGraph graph = hone::testing::RandomDeviceGraph(
        rng, 4 + rng.Below(5), 1 + static_cast<int32_t>(rng.Below(3)), 1);
    // Mostly in the order of the nodes, so that both answers are common.
    std::vector<int32_t> assignment(graph.size());
    for (size_t i = 0; i < assignment.size(); ++i) {
      assignment[i] = static_cast<int32_t>(
          i * static_cast<size_t>(graph.device_count()) / graph.size());
      if (rng.Below(2) == 0) {
        assignment[i] = static_cast<int32_t>(
            rng.Below(static_cast<uint64_t>(graph.device_count())));
      }
    }
    const bool is_convex = IsConvexByDefinition(graph, assignment);
    const bool is_pipeline = IsPipelineByDefinition(graph, assignment);
    EXPECT_EQ(CheckConvex(graph, assignment).ok(), is_convex);
    EXPECT_EQ(CheckPipeline(graph, assignment).ok(), is_pipeline);
    EXPECT_TRUE(is_convex || !is_pipeline);
    convex += is_convex ? 1 : 0;
    pipelines += is_pipeline ? 1 : 0;
    only_convex += is_convex && !is_pipeline ? 1 : 0;
  }
  // The sample shows all three cases.
  EXPECT_GT(pipelines, 500);
  EXPECT_GT(only_convex, 50);
  EXPECT_LT(convex, 3500);
}

TEST(ContiguityTest, ConvexSetsThatFeedEachOtherAreNoPipeline) {
  const auto graph = DeviceGraph::Create({10, 2, 0}, {{1}, {2}, {3}, {4}},
                                         {{1, 3, 1}, {4, 2, 1}});
  ASSERT_TRUE(graph.ok());
  HONE_EXPECT_OK(CheckConvex(*graph, {0, 0, 1, 1}));
  EXPECT_THAT(CheckPipeline(*graph, {0, 0, 1, 1}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the devices form no pipeline: nodes need outputs in "
                       "the cycle 0 -> 1 -> 0 of devices"));
}

// A forward chain 1 -> 2 -> 3 and a backward chain of nodes 4, 5, 6.
DeviceGraph Training(const std::vector<DeviceEdge>& backward) {
  std::vector<DeviceEdge> edges = {{1, 2, 1}, {2, 3, 1}};
  edges.insert(edges.end(), backward.begin(), backward.end());
  std::vector<DeviceNode> nodes;
  for (int64_t id = 1; id <= 6; ++id) {
    nodes.push_back({.id = id, .is_backward = id > 3});
  }
  auto graph = DeviceGraph::Create({10, 3, 0}, nodes, edges);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

TEST(ContiguityTest, BackwardPassGoesBackOrTheSameWay) {
  const DeviceGraph back = Training({{3, 6, 1}, {6, 5, 1}, {5, 4, 1}});
  const DeviceGraph same = Training({{4, 5, 1}, {5, 6, 1}});
  const std::vector<int32_t> stages = {0, 1, 2, 0, 1, 2};
  HONE_EXPECT_OK(CheckPipeline(back, stages));
  HONE_EXPECT_OK(CheckPipeline(same, stages));
  // The path through both parts leaves device 0 and comes back, but each part
  // is contiguous.
  HONE_EXPECT_OK(CheckConvex(back, stages));

  const std::vector<int32_t> mixed = {0, 1, 2, 1, 0, 2};
  HONE_EXPECT_OK(CheckConvex(back, mixed));
  EXPECT_THAT(CheckPipeline(back, mixed),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("form no pipeline")));

  const std::vector<int32_t> returning = {0, 1, 2, 0, 1, 0};
  EXPECT_THAT(CheckConvex(back, returning),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the backward nodes of device 0 are not contiguous: a "
                       "path leaves it from node 6 to node 5 on device 1 and "
                       "comes back at node 4"));
}

TEST(ContiguityTest, ManyDevicesAndNodes) {
  constexpr int32_t kDevices = 200;
  constexpr size_t kNodes = 80'000;
  std::vector<DeviceNode> nodes(kNodes);
  std::vector<DeviceEdge> edges;
  std::vector<int32_t> assignment(kNodes);
  for (size_t i = 0; i < kNodes; ++i) {
    nodes[i].id = static_cast<int64_t>(i);
    assignment[i] = static_cast<int32_t>(i / (kNodes / kDevices));
    for (const size_t step : {size_t{1}, size_t{7}}) {
      if (i + step < kNodes) {
        edges.push_back(
            {static_cast<int64_t>(i), static_cast<int64_t>(i + step), 1});
      }
    }
  }
  const auto graph = DeviceGraph::Create({10, kDevices, 0}, nodes, edges);
  ASSERT_TRUE(graph.ok());
  HONE_EXPECT_OK(CheckAssignment(*graph, assignment, Contiguity::kConvex));
  HONE_EXPECT_OK(CheckAssignment(*graph, assignment, Contiguity::kPipeline));
  assignment[70'000] = 150;
  EXPECT_THAT(CheckAssignment(*graph, assignment, Contiguity::kConvex),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("device 150 are not contiguous")));
  EXPECT_THAT(CheckAssignment(*graph, assignment, Contiguity::kPipeline),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("form no pipeline")));
}

}  // namespace
}  // namespace hone::graphs
