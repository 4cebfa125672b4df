#include "graphs/fingerprint.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/device_graph_json.h"
#include "tests/graphs/random_device_graph.h"

namespace hone::graphs {
namespace {

constexpr absl::string_view kGraph =
    R"({"maxSizePerFPGA":100,"maxFPGAs":2,"maxCPUs":1,"nodes":[
{"id":7,"name":"a","fpgaLatency":1,"cpuLatency":10,"size":3,"supportedOnFpga":1,"isBackwardNode":0,"colorClass":4},
{"id":8,"name":"b","fpgaLatency":2,"cpuLatency":20,"size":0,"supportedOnFpga":1,"isBackwardNode":0,"colorClass":4},
{"id":9,"name":"c","fpgaLatency":0,"cpuLatency":30,"size":5,"supportedOnFpga":1,"isBackwardNode":1}],
"edges":[{"sourceId":7,"destId":8,"cost":0.5},{"sourceId":7,"destId":9,"cost":0.5},{"sourceId":8,"destId":9,"cost":0.25}]})";

std::string FingerprintOf(absl::string_view text) {
  const auto graph = ParseDeviceGraph(text, "g.json");
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? Fingerprint(*graph) : "";
}

std::string Replaced(
    const std::vector<std::pair<absl::string_view, absl::string_view>>& pairs) {
  const std::string text = absl::StrReplaceAll(kGraph, pairs);
  EXPECT_NE(text, kGraph);
  return text;
}

TEST(GraphFingerprintTest, IgnoresLabelsAndPrinting) {
  const std::string expected = FingerprintOf(kGraph);
  EXPECT_EQ(expected.size(), 64u);
  // Names; ids of nodes; ids of color classes.
  EXPECT_EQ(FingerprintOf(Replaced({{"\"a\"", "\"x\""}})), expected);
  EXPECT_EQ(FingerprintOf(Replaced({{"\"name\":\"b\",", ""}})), expected);
  EXPECT_EQ(FingerprintOf(
                Replaced({{"Id\":7", "Id\":70"}, {"\"id\":7", "\"id\":70"}})),
            expected);
  EXPECT_EQ(FingerprintOf(Replaced({{"colorClass\":4", "colorClass\":-9"}})),
            expected);
  // Blanks, forms of numbers and flags, the order of fields, unknown fields.
  EXPECT_EQ(FingerprintOf(Replaced({{"{", " {\n"}, {":", " : "}})), expected);
  EXPECT_EQ(FingerprintOf(
                Replaced({{"\"size\":3", "\"size\":3.0e0"},
                          {"\"fpgaLatency\":0", "\"fpgaLatency\":-0.0"},
                          {"supportedOnFpga\":1", "supportedOnFpga\":true"}})),
            expected);
  EXPECT_EQ(FingerprintOf(Replaced({{"\"maxFPGAs\":2,\"maxCPUs\":1",
                                     "\"maxCPUs\":1,\"note\":3,"
                                     "\"maxFPGAs\":2"}})),
            expected);
  // The order of edges.
  EXPECT_EQ(FingerprintOf(Replaced(
                {{"{\"sourceId\":7,\"destId\":8,\"cost\":0.5},{\"sourceId\":7,"
                  "\"destId\":9,\"cost\":0.5}",
                  "{\"sourceId\":7,\"destId\":9,\"cost\":0.5},{\"sourceId\":7,"
                  "\"destId\":8,\"cost\":0.5}"}})),
            expected);
}

TEST(GraphFingerprintTest, EverythingElseCounts) {
  std::set<std::string> seen = {FingerprintOf(kGraph)};
  const std::vector<
      std::vector<std::pair<absl::string_view, absl::string_view>>>
      changes = {{{"FPGA\":100", "FPGA\":101"}},
                 {{"maxFPGAs\":2", "maxFPGAs\":3"}},
                 {{"maxCPUs\":1", "maxCPUs\":2"}},
                 {{"fpgaLatency\":2", "fpgaLatency\":2.0000000001"}},
                 {{"cpuLatency\":20", "cpuLatency\":21"}},
                 {{"size\":5", "size\":6"}},
                 {{"supportedOnFpga\":1,\"isBackwardNode\":1",
                   "supportedOnFpga\":0,\"isBackwardNode\":1"}},
                 {{"isBackwardNode\":1", "isBackwardNode\":0"}},
                 {{"\"name\":\"b\",", "\"colorClass\":5,"},
                  {"isBackwardNode\":0,\"colorClass\":4},\n{\"id\":9",
                   "isBackwardNode\":0},\n{\"id\":9"}},
                 {{",\"colorClass\":4", ""}},
                 {{"cost\":0.25", "cost\":0.5"}},
                 {{",{\"sourceId\":8,\"destId\":9,\"cost\":0.25}", ""}}};
  for (const auto& change : changes) {
    EXPECT_TRUE(seen.insert(FingerprintOf(Replaced(change))).second)
        << change[0].second;
  }
}

TEST(GraphFingerprintTest, TheOrderOfNodesCounts) {
  const auto graph = ParseDeviceGraph(kGraph, "g.json");
  ASSERT_TRUE(graph.ok());
  std::vector<DeviceNode> nodes(graph->nodes().begin(), graph->nodes().end());
  std::swap(nodes[0], nodes[1]);
  const auto swapped = DeviceGraph::Create(
      graph->limits(), nodes, {graph->edges().begin(), graph->edges().end()});
  ASSERT_TRUE(swapped.ok());
  EXPECT_NE(Fingerprint(*swapped), Fingerprint(*graph));
}

TEST(GraphFingerprintTest, RandomGraphsKeepTheirsUnderNewIdsAndPrinting) {
  Rng rng(5);
  std::set<std::string> seen;
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    const DeviceGraph graph =
        hone::testing::RandomDeviceGraph(rng, 8 + rng.Below(8), 2, 1);
    const std::string expected = Fingerprint(graph);
    seen.insert(expected);
    EXPECT_EQ(FingerprintOf(PrintDeviceGraph(graph)), expected);
    std::vector<DeviceNode> nodes(graph.nodes().begin(), graph.nodes().end());
    std::vector<DeviceEdge> edges(graph.edges().begin(), graph.edges().end());
    for (DeviceNode& node : nodes) {
      node.id = 1000 - node.id;
      node.name += "x";
      if (node.color_class.has_value()) *node.color_class *= -3;
    }
    for (DeviceEdge& edge : edges) {
      edge.source_id = 1000 - edge.source_id;
      edge.target_id = 1000 - edge.target_id;
    }
    std::reverse(edges.begin(), edges.end());
    const auto relabeled = DeviceGraph::Create(graph.limits(), nodes, edges);
    ASSERT_TRUE(relabeled.ok()) << relabeled.status();
    EXPECT_EQ(Fingerprint(*relabeled), expected);
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(kRounds));
}

}  // namespace
}  // namespace hone::graphs
