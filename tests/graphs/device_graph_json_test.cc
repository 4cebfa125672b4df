#include "graphs/device_graph_json.h"

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "tests/graphs/random_device_graph.h"
#include "tests/support/status_matchers.h"

namespace hone::graphs {
namespace {

using ::hone::testing::ReadGraphFile;
using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kGraph[] = R"({
"maxSizePerFPGA":100.5,"maxFPGAs":2,"maxCPUs":1,
"nodes":[
{"id":7,"name":"a","fpgaLatency":1,"cpuLatency":10,"size":3,"supportedOnFpga":1,"isBackwardNode":false,"layerId":4},
{"id":-2,"name":"b","fpgaLatency":2.5,"cpuLatency":20,"size":0,"supportedOnFpga":false,"isBackwardNode":0,"colorClass":5},
{"id":3,"fpgaLatency":0.1,"cpuLatency":1e-9,"size":4,"supportedOnFpga":true,"isBackwardNode":1,"colorClass":5}],
"edges":[
{"sourceId":7,"destId":-2,"cost":0.5,"size":12},
{"sourceId":7,"destId":3,"cost":0.5},
{"sourceId":-2,"destId":3,"cost":0.25}]})";

TEST(DeviceGraphJsonTest, ReadsEveryField) {
  const auto graph = ParseDeviceGraph(kGraph, "g.json");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->limits(), (DeviceLimits{100.5, 2, 1}));
  EXPECT_EQ(graph->device_count(), 3);
  EXPECT_TRUE(graph->is_accelerator(1));
  EXPECT_FALSE(graph->is_accelerator(2));
  ASSERT_EQ(graph->size(), 3u);
  EXPECT_EQ(graph->node(0),
            (DeviceNode{7, "a", 1, 10, 3, true, false, std::nullopt}));
  EXPECT_EQ(graph->node(1), (DeviceNode{-2, "b", 2.5, 20, 0, false, false, 5}));
  EXPECT_EQ(graph->node(2), (DeviceNode{3, "", 0.1, 1e-9, 4, true, true, 5}));
  EXPECT_THAT(graph->edges(), ::testing::ElementsAre(DeviceEdge{7, -2, 0.5},
                                                     DeviceEdge{7, 3, 0.5},
                                                     DeviceEdge{-2, 3, 0.25}));
  EXPECT_THAT(graph->adjacency().successors(0), ::testing::ElementsAre(1, 2));
  EXPECT_THAT(graph->topological_order(), ::testing::ElementsAre(0, 1, 2));
  EXPECT_EQ(graph->output_cost(0), 0.5);
  EXPECT_EQ(graph->output_cost(2), 0);
}

TEST(DeviceGraphJsonTest, RoundTripsRandomGraphs) {
  Rng rng(3);
  for (int round = 0; round < 300; ++round) {
    const DeviceGraph graph = hone::testing::RandomDeviceGraph(
        rng, 1 + rng.Below(12), 1 + static_cast<int32_t>(rng.Below(3)), 1);
    const std::string text = PrintDeviceGraph(graph);
    const auto again = ParseDeviceGraph(text, "g.json");
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(*again, graph);
    EXPECT_EQ(PrintDeviceGraph(*again), text);
  }
}

TEST(DeviceGraphJsonTest, RoundTripsExtremeValues) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const auto graph = DeviceGraph::Create(
      {1e18, 1 << 20, 1 << 20},
      {{kLeast, "\"\\\n\x01 ü", 5e-324, 1e18, 0.1 + 0.2, true, true, kLeast},
       {kMost, "", 1.0 / 3, 9007199254740993.0, 0, true, false, kMost}},
      {{kLeast, kMost, 2.0 / 3}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto again = ParseDeviceGraph(PrintDeviceGraph(*graph), "g.json");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, *graph);
}

TEST(DeviceGraphJsonTest, RoundTripsPublicGraphs) {
  for (const char* name :
       {"layer_bert24_training.json", "op_bert_l-3_training.json",
        "layer_gnmt_training.json"}) {
    const auto graph = ParseDeviceGraph(ReadGraphFile(name), name);
    ASSERT_TRUE(graph.ok()) << graph.status();
    const auto again = ParseDeviceGraph(PrintDeviceGraph(*graph), name);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(*again, *graph);
  }
}

struct BadInput {
  const char* what;
  // The first occurrence of `from` in kGraph is replaced by `to`.
  const char* from;
  const char* to;
  const char* message;
};

TEST(DeviceGraphJsonTest, RefusesBadInputWithItsPlace) {
  const std::vector<BadInput> inputs = {
      {"truncated", R"({"sourceId":-2,"destId":3,"cost":0.25}]})", "",
       "g.json:10:1: not valid JSON: syntax error while parsing value - "
       "unexpected end of input"},
      {"missing comma", R"("id":7,"name")", R"("id":7 "name")",
       "g.json:4:14: not valid JSON: syntax error while parsing object"},
      {"huge literal", "100.5", "1e999",
       "g.json:2:22: not valid JSON: number overflow parsing '1e999'"},
      {"NaN", "100.5", "NaN", "g.json:2:18: not valid JSON: syntax error"},
      {"no maxSizePerFPGA", "maxSizePerFPGA", "maxSize",
       "g.json: maxSizePerFPGA is missing, expected a number"},
      {"negative maxSizePerFPGA", "100.5", "-1",
       "g.json: maxSizePerFPGA is -1, expected a number from 0 to 1e+18"},
      {"string for maxSizePerFPGA", "100.5", "\"100\"",
       "g.json: maxSizePerFPGA is \"100\", expected a number"},
      {"no maxFPGAs", "maxFPGAs", "maxTPUs",
       "g.json: maxFPGAs is missing, expected an integer of 64 bits"},
      {"fraction of maxFPGAs", "\"maxFPGAs\":2", "\"maxFPGAs\":2.5",
       "g.json: maxFPGAs is 2.5, expected an integer"},
      {"negative maxFPGAs", "\"maxFPGAs\":2", "\"maxFPGAs\":-2",
       "g.json: maxFPGAs is -2, expected an integer from 0 to 1048576"},
      {"too many FPGAs", "\"maxFPGAs\":2", "\"maxFPGAs\":2000000",
       "g.json: maxFPGAs is 2000000, expected an integer from 0 to 1048576"},
      {"maxFPGAs of 33 bits", "\"maxFPGAs\":2", "\"maxFPGAs\":8589934592",
       "g.json: maxFPGAs is 8589934592, expected an integer of 32 bits"},
      {"negative maxCPUs", "\"maxCPUs\":1", "\"maxCPUs\":-1",
       "g.json: maxCPUs is -1, expected an integer from 0"},
      {"no devices", "\"maxFPGAs\":2,\"maxCPUs\":1",
       "\"maxFPGAs\":0,\"maxCPUs\":0",
       "g.json: maxFPGAs and maxCPUs are 0, expected a device"},
      {"no nodes", "\"nodes\"", "\"vertices\"",
       "g.json: nodes is missing, expected an array"},
      {"nodes of another type", "\"nodes\":[", "\"nodes\":{},\"x\":[",
       "g.json: nodes is an object, expected an array"},
      {"edges of another type", "\"edges\":[", "\"edges\":3,\"x\":[",
       "g.json: edges is 3, expected an array"},
      {"node of another type", "\"nodes\":[", "\"nodes\":[[],",
       "g.json: nodes[0] is an array, expected an object"},
      {"edge of another type", "\"edges\":[", "\"edges\":[null,",
       "g.json: edges[0] is null, expected an object"},
      {"no id", "\"id\":-2", "\"key\":-2",
       "g.json: nodes[1].id is missing, expected an integer"},
      {"id of 65 bits", "\"id\":-2", "\"id\":9223372036854775808",
       "g.json: nodes[1].id is 9223372036854775808, expected an integer of 64 "
       "bits"},
      {"name of another type", "\"name\":\"b\"", "\"name\":1",
       "g.json: nodes[1].name is 1, expected a string"},
      {"no fpgaLatency", "\"fpgaLatency\":2.5,", "",
       "g.json: nodes[1].fpgaLatency is missing, expected a number"},
      {"negative fpgaLatency", "\"fpgaLatency\":2.5", "\"fpgaLatency\":-2.5",
       "g.json: nodes[1].fpgaLatency is -2.5, expected a number from 0"},
      {"no cpuLatency", "\"cpuLatency\":20,", "",
       "g.json: nodes[1].cpuLatency is missing, expected a number"},
      {"huge cpuLatency", "\"cpuLatency\":20", "\"cpuLatency\":1e101",
       "g.json: nodes[1].cpuLatency is 1e+101, expected a number from 0 to "
       "1e+18"},
      {"no size", "\"size\":0,", "",
       "g.json: nodes[1].size is missing, expected a number"},
      {"size of another type", "\"size\":0", "\"size\":null",
       "g.json: nodes[1].size is null, expected a number"},
      {"negative size", "\"size\":0", "\"size\":-4",
       "g.json: nodes[1].size is -4, expected a number from 0"},
      {"no supportedOnFpga", "\"supportedOnFpga\":false,", "",
       "g.json: nodes[1].supportedOnFpga is missing, expected true, false"},
      {"flag of 2", "\"supportedOnFpga\":false", "\"supportedOnFpga\":2",
       "g.json: nodes[1].supportedOnFpga is 2, expected true, false, 1 or 0"},
      {"no isBackwardNode", "\"isBackwardNode\":0,", "",
       "g.json: nodes[1].isBackwardNode is missing, expected true, false"},
      {"flag as a string", "\"isBackwardNode\":0", "\"isBackwardNode\":\"no\"",
       "g.json: nodes[1].isBackwardNode is \"no\", expected true, false"},
      {"color as a fraction", "\"colorClass\":5", "\"colorClass\":0.5",
       "g.json: nodes[1].colorClass is 0.5, expected an integer"},
      {"color null", "\"colorClass\":5", "\"colorClass\":null",
       "g.json: nodes[1].colorClass is null, expected an integer"},
      {"duplicate id", "\"id\":3", "\"id\":7",
       "g.json: nodes[2].id is 7 as nodes[0].id is, expected distinct ids"},
      {"no sourceId", "\"sourceId\":-2", "\"from\":-2",
       "g.json: edges[2].sourceId is missing, expected an integer"},
      {"dangling sourceId", "\"sourceId\":-2", "\"sourceId\":8",
       "g.json: edges[2].sourceId is 8, expected the id of a node"},
      {"dangling destId", "\"destId\":-2", "\"destId\":9",
       "g.json: edges[0].destId is 9, expected the id of a node"},
      {"no cost", "\"cost\":0.25", "\"price\":0.25",
       "g.json: edges[2].cost is missing, expected a number"},
      {"negative cost", "\"cost\":0.25", "\"cost\":-0.25",
       "g.json: edges[2].cost is -0.25, expected a number from 0"},
      {"self edge", "\"destId\":-2", "\"destId\":7",
       "g.json: edges[0].destId is 7, the source itself, expected another"},
      {"duplicate edge", "\"destId\":-2", "\"destId\":3",
       "g.json: edges[1] leads from 7 to 3 as edges[0] does, expected each "
       "edge once"},
      {"different costs", "\"destId\":3,\"cost\":0.5",
       "\"destId\":3,\"cost\":0.75",
       "g.json: edges[1].cost is 0.75, expected 0.5 as in edges[0], which has "
       "the same source"},
      {"cycle", "\"edges\":[",
       "\"edges\":[{\"sourceId\":3,\"destId\":7,\"cost\":1},",
       "g.json: edges form the cycle 7 -> 3 -> 7 of node ids, expected none"},
      {"unsupported without CPU", "\"maxCPUs\":1", "\"maxCPUs\":0",
       "g.json: nodes[1].supportedOnFpga is 0 and maxCPUs is 0, expected a "
       "device for the node"},
  };
  for (const BadInput& input : inputs) {
    SCOPED_TRACE(input.what);
    std::string text = kGraph;
    const size_t place = text.find(input.from);
    ASSERT_NE(place, text.npos);
    text.replace(place, std::string(input.from).size(), input.to);
    EXPECT_THAT(
        ParseDeviceGraph(text, "g.json"),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 AllOf(StartsWith(input.message), Not(HasSubstr("\n")))));
  }
}

TEST(DeviceGraphJsonTest, RefusesDocumentsOfAnotherKind) {
  constexpr absl::string_view kEmpty =
      R"({"maxSizePerFPGA":1,"maxFPGAs":1,"maxCPUs":0,"nodes":[],"edges":[]})";
  EXPECT_THAT(ParseDeviceGraph(kEmpty, "g.json"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "g.json: nodes is empty, expected a node"));
  EXPECT_THAT(ParseDeviceGraph("[1]", "g.json"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "g.json: the document is an array, expected an object"));
  EXPECT_THAT(ParseDeviceGraph("", "g.json"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       StartsWith("g.json:1:1: not valid JSON: ")));
  EXPECT_THAT(ParseDeviceGraph("{\"a\":\"\xff\"}", "g.json"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       StartsWith("g.json:1:7: not valid JSON: ")));
  EXPECT_THAT(ParseDeviceGraph(std::string(1'000'000, '['), "g.json"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       StartsWith("g.json:1:1000001: not valid JSON: ")));
}

TEST(DeviceGraphTest, RefusesANodeThatFitsOnNoDevice) {
  EXPECT_THAT(DeviceGraph::Create({10, 2, 0}, {{1, "a", 1, 1, 11}}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "nodes[0].size is 11 and maxCPUs is 0, expected at most "
                       "maxSizePerFPGA, 10"));
  HONE_EXPECT_OK(DeviceGraph::Create({10, 2, 1}, {{1, "a", 1, 1, 11}}, {}));
}

TEST(DeviceGraphTest, RefusesNumbersThatAreNotFinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(DeviceGraph::Create({kInfinity, 1, 0}, {{1}}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("maxSizePerFPGA is inf, expected")));
  EXPECT_THAT(DeviceGraph::Create({1, 1, 0}, {{1, "a", nan}}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("nodes[0].fpgaLatency is nan, expected")));
  EXPECT_THAT(DeviceGraph::Create({1, 1, 0}, {{1}, {2}}, {{1, 2, kInfinity}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("edges[0].cost is inf, expected")));
}

TEST(DeviceGraphTest, ShowsTheBeginningOfALongCycle) {
  std::vector<DeviceNode> nodes;
  std::vector<DeviceEdge> edges;
  for (int64_t i = 0; i < 20; ++i) {
    nodes.push_back({.id = i});
    edges.push_back({i, (i + 1) % 20, 1});
  }
  EXPECT_THAT(DeviceGraph::Create({1, 1, 0}, nodes, edges),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "edges form the cycle 0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 6 "
                       "-> 7 -> … -> 0 of node ids, expected none"));
}

}  // namespace
}  // namespace hone::graphs
