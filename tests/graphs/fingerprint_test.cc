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
#include "graphs/op_graph_json.h"
#include "tests/graphs/random_device_graph.h"
#include "tests/graphs/step/random_op_graph.h"

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

constexpr absl::string_view kOperators = R"({"nodes":[
{"id":7,"name":"a","opcode":"parameter","flops":0,"bytes":0,"output_bytes":8,"parameter_bytes":8,"scope":"top"},
{"id":8,"opcode":"dot","flops":100,"bytes":24,"output_bytes":16,"parameter_bytes":4},
{"id":9,"opcode":"add","flops":4,"bytes":24,"output_bytes":12,"parameter_bytes":0,"is_output":true}],
"edges":[{"from":7,"to":8,"bytes":8},{"from":7,"to":9,"bytes":5},{"from":8,"to":9,"bytes":16}]})";

std::string FingerprintOfOperators(absl::string_view text) {
  const auto graph = ParseOpGraph(text, "g.json");
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? Fingerprint(*graph) : "";
}

TEST(OpGraphFingerprintTest, IgnoresLabelsAndPrinting) {
  const std::string expected = FingerprintOfOperators(kOperators);
  EXPECT_EQ(expected.size(), 64u);
  const std::vector<
      std::vector<std::pair<absl::string_view, absl::string_view>>>
      changes = {{{"\"name\":\"a\",", ""}},
                 {{"\"name\":\"a\"", "\"name\":\"b\""}},
                 {{"\"scope\":\"top\"", "\"scope\":\"top/layer0\""}},
                 {{",\"scope\":\"top\"", ""}},
                 {{"\"id\":7", "\"id\":-70"}, {"\"from\":7", "\"from\":-70"}},
                 {{"{", " {\n"}, {":", " : "}},
                 {{"\"flops\":100", "\"flops\":1e2"},
                  {"\"flops\":0", "\"flops\":-0.0"},
                  {"\"is_output\":true", "\"is_output\":1"}},
                 {{"\"opcode\":\"dot\"", "\"color\":3,\"opcode\":\"dot\""}},
                 {{"{\"from\":7,\"to\":8,\"bytes\":8},", ""},
                  {"\"bytes\":16}",
                   "\"bytes\":16},{\"from\":7,\"to\":8,"
                   "\"bytes\":8}"}}};
  for (const auto& change : changes) {
    const std::string text = absl::StrReplaceAll(kOperators, change);
    EXPECT_NE(text, kOperators);
    EXPECT_EQ(FingerprintOfOperators(text), expected) << text;
  }
}

TEST(OpGraphFingerprintTest, EverythingElseCounts) {
  std::set<std::string> seen = {FingerprintOfOperators(kOperators)};
  const std::vector<
      std::vector<std::pair<absl::string_view, absl::string_view>>>
      changes = {{{"\"add\"", "\"subtract\""}},
                 {{"\"flops\":100", "\"flops\":100.00000001"}},
                 {{"\"bytes\":0", "\"bytes\":1"}},
                 {{"\"output_bytes\":12", "\"output_bytes\":13"}},
                 {{"\"parameter_bytes\":4", "\"parameter_bytes\":5"}},
                 {{",\"is_output\":true", ""}},
                 {{"\"parameter_bytes\":4",
                   "\"parameter_bytes\":4,\"is_output\":true"}},
                 {{"\"bytes\":5}", "\"bytes\":6}"}},
                 {{"{\"from\":7,\"to\":9,\"bytes\":5},", ""}}};
  for (const auto& change : changes) {
    EXPECT_TRUE(seen.insert(FingerprintOfOperators(
                                absl::StrReplaceAll(kOperators, change)))
                    .second)
        << change[0].second;
  }
  const auto graph = ParseOpGraph(kOperators, "g.json");
  ASSERT_TRUE(graph.ok());
  std::vector<OpNode> nodes(graph->nodes().begin(), graph->nodes().end());
  std::swap(nodes[0], nodes[1]);
  const auto swapped =
      OpGraph::Create(nodes, {graph->edges().begin(), graph->edges().end()});
  ASSERT_TRUE(swapped.ok());
  EXPECT_TRUE(seen.insert(Fingerprint(*swapped)).second);
}

TEST(OpGraphFingerprintTest, RandomGraphsKeepTheirsUnderPrinting) {
  Rng rng(6);
  std::set<std::string> seen;
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    const OpGraph graph = hone::testing::RandomOpGraph(rng, 12 + rng.Below(8));
    const std::string expected = Fingerprint(graph);
    seen.insert(expected);
    EXPECT_EQ(FingerprintOfOperators(PrintOpGraph(graph)), expected);
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(kRounds));
}

}  // namespace
}  // namespace hone::graphs
