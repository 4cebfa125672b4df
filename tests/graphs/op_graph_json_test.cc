#include "graphs/op_graph_json.h"

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "tests/support/status_matchers.h"

namespace hone::graphs {
namespace {

using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kGraph[] = R"({
"nodes":[
{"id":1,"name":"x","opcode":"parameter","flops":0,"bytes":0,"output_bytes":64,"parameter_bytes":8.5,"color":"red"},
{"id":-4,"opcode":"dot","flops":1e12,"bytes":192,"output_bytes":64,"parameter_bytes":0}],
"edges":[
{"from":1,"to":-4,"bytes":64}]})";

TEST(OpGraphJsonTest, ReadsEveryField) {
  const auto graph = ParseOpGraph(kGraph, "g.json");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(graph->nodes(),
              ElementsAre(OpNode{1, "x", "parameter", 0, 0, 64, 8.5},
                          OpNode{-4, "", "dot", 1e12, 192, 64, 0}));
  EXPECT_THAT(graph->edges(), ElementsAre(OpEdge{1, -4, 64}));
  EXPECT_THAT(graph->adjacency().successors(0), ElementsAre(1));
  EXPECT_THAT(graph->topological_order(), ElementsAre(0, 1));
}

TEST(OpGraphJsonTest, ResultsAndScopesMayBeLeftOut) {
  std::string text = kGraph;
  text.replace(text.find("\"color\":\"red\""), 13,
               "\"is_output\":true,\"scope\":\"layer1/attention\"");
  const auto graph = ParseOpGraph(text, "g.json");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_TRUE(graph->node(0).is_output);
  EXPECT_EQ(graph->node(0).scope, "layer1/attention");
  EXPECT_FALSE(graph->node(1).is_output);
  EXPECT_EQ(graph->node(1).scope, "");
  const std::string printed = PrintOpGraph(*graph);
  EXPECT_THAT(printed,
              HasSubstr(",\"is_output\":true,\"scope\":\"layer1/attention\"}"));
  // Those that have none do not mention them.
  EXPECT_THAT(PrintOpGraph(*ParseOpGraph(kGraph, "g.json")),
              AllOf(Not(HasSubstr("is_output")), Not(HasSubstr("scope"))));
}

TEST(OpGraphJsonTest, RoundTripsRandomGraphs) {
  Rng rng(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<OpNode> nodes(1 + rng.Below(12));
    std::vector<OpEdge> edges;
    for (size_t i = 0; i < nodes.size(); ++i) {
      nodes[i] = {.id = 50 - static_cast<int64_t>(i),
                  .name = std::string(rng.Below(3), '"'),
                  .opcode = "op ü",
                  .flops = rng.Uniform() * 1e15,
                  .bytes = rng.Uniform() / 3,
                  .output_bytes = static_cast<double>(rng.Below(1u << 30)),
                  .parameter_bytes = rng.Uniform() * 1e-300,
                  .is_output = rng.Below(2) == 0,
                  .scope = std::string(rng.Below(2), '/')};
      for (size_t j = 0; j < i; ++j) {
        if (rng.Below(3) == 0) {
          edges.push_back({nodes[j].id, nodes[i].id, rng.Uniform()});
        }
      }
    }
    const auto graph = OpGraph::Create(nodes, edges);
    ASSERT_TRUE(graph.ok()) << graph.status();
    const std::string text = PrintOpGraph(*graph);
    const auto again = ParseOpGraph(text, "g.json");
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(*again, *graph);
    EXPECT_EQ(PrintOpGraph(*again), text);
  }
}

struct BadInput {
  const char* what;
  // The first occurrence of `from` in kGraph is replaced by `to`.
  const char* from;
  const char* to;
  const char* message;
};

TEST(OpGraphJsonTest, RefusesBadInputWithItsPlace) {
  const std::vector<BadInput> inputs = {
      {"syntax", "\"id\":1", "\"id\"=1",
       "g.json:3:6: not valid JSON: syntax error while parsing object"},
      {"no nodes", "\"nodes\"", "\"ops\"",
       "g.json: nodes is missing, expected an array"},
      {"no edges", "\"edges\"", "\"arcs\"",
       "g.json: edges is missing, expected an array"},
      {"node of another type", "\"nodes\":[", "\"nodes\":[\"a\\nb\",",
       "g.json: nodes[0] is \"a\\nb\", expected an object"},
      {"no id", "\"id\":-4,", "", "g.json: nodes[1].id is missing, expected"},
      {"id as a fraction", "\"id\":-4", "\"id\":4.5",
       "g.json: nodes[1].id is 4.5, expected an integer of 64 bits"},
      {"name of another type", "\"x\"", "[]",
       "g.json: nodes[0].name is an array, expected a string"},
      {"no opcode", "\"opcode\":\"dot\",", "",
       "g.json: nodes[1].opcode is missing, expected a string"},
      {"opcode of another type", "\"dot\"", "1",
       "g.json: nodes[1].opcode is 1, expected a string"},
      {"no flops", "\"flops\":1e12,", "",
       "g.json: nodes[1].flops is missing, expected a number"},
      {"negative flops", "1e12", "-1e12",
       "g.json: nodes[1].flops is -1e+12, expected a number from 0 to 1e+18"},
      {"huge flops", "1e12", "1e120",
       "g.json: nodes[1].flops is 1e+120, expected a number from 0 to 1e+18"},
      {"bytes of another type", "192", "true",
       "g.json: nodes[1].bytes is true, expected a number"},
      {"negative output_bytes", "\"output_bytes\":64", "\"output_bytes\":-1",
       "g.json: nodes[0].output_bytes is -1, expected a number from 0"},
      {"no parameter_bytes", ",\"parameter_bytes\":0", "",
       "g.json: nodes[1].parameter_bytes is missing, expected a number"},
      {"negative parameter_bytes", "8.5", "-8.5",
       "g.json: nodes[0].parameter_bytes is -8.5, expected a number from 0"},
      {"is_output of another type", "\"color\":\"red\"",
       "\"is_output\":\"yes\"",
       "g.json: nodes[0].is_output is \"yes\", expected"},
      {"is_output as a large number", "\"color\":\"red\"", "\"is_output\":2",
       "g.json: nodes[0].is_output is 2, expected"},
      {"scope of another type", "\"color\":\"red\"", "\"scope\":[]",
       "g.json: nodes[0].scope is an array, expected a string"},
      {"duplicate id", "\"id\":-4", "\"id\":1",
       "g.json: nodes[1].id is 1 as nodes[0].id is, expected distinct ids"},
      {"no from", "\"from\"", "\"source\"",
       "g.json: edges[0].from is missing, expected an integer"},
      {"dangling from", "\"from\":1", "\"from\":2",
       "g.json: edges[0].from is 2, expected the id of a node"},
      {"dangling to", "\"to\":-4", "\"to\":4",
       "g.json: edges[0].to is 4, expected the id of a node"},
      {"negative bytes", "\"bytes\":64", "\"bytes\":-64",
       "g.json: edges[0].bytes is -64, expected a number from 0"},
      {"self edge", "\"to\":-4", "\"to\":1",
       "g.json: edges[0].to is 1, the source itself, expected another node"},
      {"duplicate edge", "\"edges\":[",
       "\"edges\":[{\"from\":1,\"to\":-4,\"bytes\":1},",
       "g.json: edges[1] leads from 1 to -4 as edges[0] does, expected each "
       "edge once"},
      {"cycle", "\"edges\":[", "\"edges\":[{\"from\":-4,\"to\":1,\"bytes\":1},",
       "g.json: edges form the cycle 1 -> -4 -> 1 of node ids, expected none"},
  };
  for (const BadInput& input : inputs) {
    SCOPED_TRACE(input.what);
    std::string text = kGraph;
    const size_t place = text.find(input.from);
    ASSERT_NE(place, text.npos);
    text.replace(place, std::string(input.from).size(), input.to);
    EXPECT_THAT(
        ParseOpGraph(text, "g.json"),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 AllOf(StartsWith(input.message), Not(HasSubstr("\n")))));
  }
  EXPECT_THAT(ParseOpGraph("{\"nodes\":[],\"\xff\"", "g.json"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(StartsWith("g.json:1:14: not valid JSON: "),
                             HasSubstr("\\xff"), Not(HasSubstr("\xff")))));
  EXPECT_THAT(ParseOpGraph(R"({"nodes":[],"edges":[]})", "g.json"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "g.json: nodes is empty, expected a node"));
}

TEST(OpGraphTest, RefusesNumbersThatAreNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(OpGraph::Create({{.id = 1, .bytes = nan}}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("nodes[0].bytes is nan, expected")));
}

}  // namespace
}  // namespace hone::graphs
