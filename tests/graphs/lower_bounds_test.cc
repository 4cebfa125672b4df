#include "graphs/lower_bounds.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/device_graph_json.h"
#include "graphs/ideals.h"
#include "graphs/layered_graph.h"
#include "graphs/max_load.h"
#include "graphs/placements.h"
#include "tests/graphs/random_device_graph.h"
#include "tests/support/status_matchers.h"

namespace hone::graphs {
namespace {

using ::hone::testing::ForEachAssignment;
using ::hone::testing::RandomDeviceGraph;
using ::hone::testing::ReadGraphFile;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

DeviceGraph MakeGraph(const DeviceLimits& limits,
                      std::vector<DeviceNode> nodes) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].id = static_cast<int64_t>(i);
  }
  auto graph = DeviceGraph::Create(limits, std::move(nodes), {});
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *std::move(graph);
}

TEST(LowerBounds, NoAssignmentIsBelow) {
  Rng rng(1);
  int feasible = 0;
  int infinite = 0;
  int tight = 0;
  int by_memory = 0;
  for (int round = 0; round < 600; ++round) {
    const auto accelerators = static_cast<int32_t>(rng.Below(4));
    const auto cpus =
        static_cast<int32_t>((accelerators == 0 ? 1 : 0) + rng.Below(3));
    const int32_t devices = accelerators + cpus;
    const size_t nodes = 1 + rng.Below(devices <= 3 ? 7 : 5);
    const DeviceGraph graph = RandomDeviceGraph(rng, nodes, accelerators, cpus);
    SCOPED_TRACE(PrintDeviceGraph(graph));
    double best = kInfinity;
    ForEachAssignment(
        nodes, devices, [&](const std::vector<int32_t>& assignment) {
          if (!CheckAssignment(graph, assignment, Contiguity::kNone).ok()) {
            return;
          }
          best = std::min(best, ComputeLoads(graph, assignment)->max_load);
        });
    const LoadBounds bounds = LowerBounds(graph);
    for (const double bound : {bounds.shared_work, bounds.largest_class,
                               bounds.memory, bounds.greatest()}) {
      EXPECT_GE(bound, 0);
      EXPECT_LE(bound, best * (1 + 1e-12));
    }
    feasible += best < kInfinity ? 1 : 0;
    infinite += bounds.greatest() == kInfinity ? 1 : 0;
    tight += best > 0 && bounds.greatest() > 0.999 * best ? 1 : 0;
    by_memory +=
        bounds.memory > std::max(bounds.shared_work, bounds.largest_class) ? 1
                                                                           : 0;
  }
  EXPECT_GT(feasible, 300);
  EXPECT_GT(infinite, 5);
  EXPECT_GT(tight, 60);
  EXPECT_GT(by_memory, 5);
}

TEST(LowerBounds, NoPipelineOfThePublicGraphsIsBelow) {
  for (const char* file :
       {"layer_bert24_inference.json", "layer_bert24_training.json",
        "layer_resnet50_inference.json", "op_bert_l-3_inference.json",
        "op_resnet50_inference.json"}) {
    SCOPED_TRACE(file);
    const auto graph = ParseDeviceGraph(ReadGraphFile(file), file);
    ASSERT_TRUE(graph.ok()) << graph.status();
    const auto pipeline = FindBestPipeline(*graph);
    ASSERT_TRUE(pipeline.ok()) << pipeline.status();
    const double bound = LowerBounds(*graph).greatest();
    EXPECT_LE(bound, pipeline->max_load);
    EXPECT_GT(bound, 0.3 * pipeline->max_load);
  }
}

TEST(LowerBounds, SharesWorkByWhatSuitsDevices) {
  // The first node suits the core, the others the accelerator: 4 on either.
  const DeviceGraph graph =
      MakeGraph({100, 1, 1}, {{.accelerator_latency = 9, .cpu_latency = 3},
                              {.accelerator_latency = 3, .cpu_latency = 30},
                              {.accelerator_latency = 2, .cpu_latency = 2}});
  // 3 on the core and 5 on the accelerator; then half of the last is moved.
  EXPECT_DOUBLE_EQ(LowerBounds(graph).shared_work, 4);
  EXPECT_DOUBLE_EQ(LowerBounds(graph).largest_class, 3);
  EXPECT_DOUBLE_EQ(LowerBounds(graph).greatest(), 4);
}

TEST(LowerBounds, ColorClassesStayTogether) {
  const DeviceGraph graph = MakeGraph(
      {100, 4, 1},
      {{.accelerator_latency = 3, .cpu_latency = 20, .color_class = 7},
       {.accelerator_latency = 4, .cpu_latency = 20, .color_class = 7},
       {.accelerator_latency = 5, .cpu_latency = 20}});
  EXPECT_DOUBLE_EQ(LowerBounds(graph).largest_class, 7);
}

TEST(LowerBounds, MemorySendsTheCheapestBytesToTheCores) {
  // 16 bytes for an accelerator of 10; the core takes 8 of the second for 4,
  // of which 6 exceed the memory.
  const DeviceGraph graph =
      MakeGraph({10, 1, 1}, {{.cpu_latency = 20, .size_bytes = 8},
                             {.cpu_latency = 4, .size_bytes = 8}});
  EXPECT_NEAR(LowerBounds(graph).memory, 3, 1e-9);
  EXPECT_DOUBLE_EQ(LowerBounds(graph).largest_class, 0);
}

TEST(LowerBounds, IsInfiniteWhereNothingFits) {
  const DeviceGraph too_large =
      MakeGraph({10, 1, 0}, {{.size_bytes = 8}, {.size_bytes = 8}});
  EXPECT_EQ(LowerBounds(too_large).memory, kInfinity);
  EXPECT_EQ(LowerBounds(too_large).largest_class, 0);
}

TEST(LowerBounds, IsNearTheSegmentsOfALargeGraph) {
  const DeviceGraph graph = MakeLayeredGraph(5000, 1);
  const auto segments = PlaceSegments(graph, nullptr);
  ASSERT_TRUE(segments.has_value());
  const double load = ComputeLoads(graph, *segments)->max_load;
  const double bound = LowerBounds(graph).greatest();
  EXPECT_LE(bound, load);
  EXPECT_GT(bound, 0.8 * load);
}

}  // namespace
}  // namespace hone::graphs
