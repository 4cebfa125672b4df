#include "graphs/placements.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/device_graph_json.h"
#include "graphs/max_load.h"
#include "tests/graphs/random_device_graph.h"
#include "tests/support/status_matchers.h"

namespace hone::graphs {
namespace {

using ::hone::testing::ForEachAssignment;
using ::hone::testing::RandomDeviceGraph;
using ::hone::testing::ReadGraphFile;

// Checks a placement, if there is one, and returns its max load.
double LoadOf(const DeviceGraph& graph,
              const std::optional<Placement>& placement, const char* name) {
  if (!placement) return std::numeric_limits<double>::infinity();
  SCOPED_TRACE(name);
  HONE_EXPECT_OK(CheckAssignment(graph, *placement, Contiguity::kPipeline));
  HONE_EXPECT_OK(CheckAssignment(graph, *placement, Contiguity::kConvex));
  return ComputeLoads(graph, *placement)->max_load;
}

TEST(Placements, AreValidPipelinesAndNoneBeatsTheExactProgram) {
  Rng rng(1);
  int found = 0;
  for (int round = 0; round < 1000; ++round) {
    const auto accelerators = static_cast<int32_t>(rng.Below(4));
    const auto cpus =
        static_cast<int32_t>((accelerators == 0 ? 1 : 0) + rng.Below(3));
    const DeviceGraph graph =
        RandomDeviceGraph(rng, 1 + rng.Below(15), accelerators, cpus);
    SCOPED_TRACE(PrintDeviceGraph(graph));
    const double exact = LoadOf(graph, PlaceExactly(graph, nullptr), "exact");
    EXPECT_LE(exact, LoadOf(graph, PlaceOnOneDevice(graph), "one"));
    EXPECT_LE(exact, LoadOf(graph, PlaceGreedily(graph), "greedy"));
    EXPECT_LE(exact, LoadOf(graph, PlaceSegments(graph, nullptr), "segments"));
    const double metis = LoadOf(graph, PlaceByMetis(graph, nullptr), "metis");
    EXPECT_LE(exact, metis);
    found += metis < std::numeric_limits<double>::infinity() ? 1 : 0;
  }
  EXPECT_GT(found, 20);
}

TEST(Placements, LocalSearchReachesTheBestOfAllAssignments) {
  Rng rng(2);
  int rounds = 0;
  while (rounds < 8) {
    const DeviceGraph graph = RandomDeviceGraph(rng, 7, 2, 1);
    const auto start = PlaceOnOneDevice(graph);
    if (!start) continue;
    ++rounds;
    double best = std::numeric_limits<double>::infinity();
    ForEachAssignment(7, 3, [&](const std::vector<int32_t>& assignment) {
      if (!CheckAssignment(graph, assignment, Contiguity::kNone).ok()) return;
      best = std::min(best, ComputeLoads(graph, assignment)->max_load);
    });
    const Placement improved =
        ImprovePlacement(graph, Contiguity::kNone, *start, nullptr);
    EXPECT_EQ(improved,
              ImprovePlacement(graph, Contiguity::kNone, *start, nullptr));
    EXPECT_EQ(ComputeLoads(graph, improved)->max_load, best);
  }
}

TEST(Placements, SegmentsAreNearTheOptimaOfPublicGraphs) {
  for (const char* file :
       {"layer_bert24_training.json", "layer_inceptionv3_inference.json",
        "op_bert_l-3_training.json", "op_resnet50_inference.json"}) {
    SCOPED_TRACE(file);
    const auto graph = ParseDeviceGraph(ReadGraphFile(file), file);
    ASSERT_TRUE(graph.ok()) << graph.status();
    const double exact = LoadOf(*graph, PlaceExactly(*graph, nullptr), "exact");
    EXPECT_LE(LoadOf(*graph, PlaceSegments(*graph, nullptr), "segments"),
              1.01 * exact);
  }
}

// 20,000 nodes in layers of eight.
TEST(Placements, LargeGraphs) {
  Rng rng(3);
  constexpr int64_t kNodes = 20'000;
  std::vector<DeviceNode> nodes;
  std::vector<DeviceEdge> edges;
  for (int64_t i = 0; i < kNodes; ++i) {
    nodes.push_back({.id = i,
                     .accelerator_latency = rng.Uniform(),
                     .cpu_latency = 10 * rng.Uniform(),
                     .size_bytes = 1});
    const int64_t target = (i / 8 + 1) * 8 + static_cast<int64_t>(rng.Below(8));
    if (target < kNodes) edges.push_back({i, target, rng.Uniform()});
  }
  const auto graph = DeviceGraph::Create({kNodes / 6.0, 8, 1}, nodes, edges);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const double ideal = kNodes / 2.0 / 8;
  const auto segments = PlaceSegments(*graph, nullptr);
  EXPECT_LT(LoadOf(*graph, segments, "segments"), 1.05 * ideal);
  EXPECT_LT(LoadOf(*graph, PlaceByMetis(*graph, nullptr), "metis"),
            1.2 * ideal);
  EXPECT_LE(LoadOf(*graph,
                   ImprovePlacement(*graph, Contiguity::kPipeline, *segments,
                                    nullptr),
                   "local search"),
            LoadOf(*graph, segments, "segments"));
}

}  // namespace
}  // namespace hone::graphs
