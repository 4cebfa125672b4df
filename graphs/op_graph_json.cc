#include "graphs/op_graph_json.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

#include "base/status_macros.h"
#include "graphs/json_fields.h"
#include "graphs/json_lines.h"

namespace hone::graphs {
namespace {

using Json = nlohmann::json;

absl::StatusOr<OpNode> ReadNode(const JsonObject& object) {
  OpNode node;
  HONE_ASSIGN_OR_RETURN(node.id, object.Integer("id"));
  HONE_ASSIGN_OR_RETURN(node.name, object.OptionalString("name"));
  HONE_ASSIGN_OR_RETURN(node.opcode, object.String("opcode"));
  HONE_ASSIGN_OR_RETURN(node.flops, object.Number("flops"));
  HONE_ASSIGN_OR_RETURN(node.bytes, object.Number("bytes"));
  HONE_ASSIGN_OR_RETURN(node.output_bytes, object.Number("output_bytes"));
  HONE_ASSIGN_OR_RETURN(node.parameter_bytes, object.Number("parameter_bytes"));
  HONE_ASSIGN_OR_RETURN(node.is_output, object.OptionalFlag("is_output"));
  HONE_ASSIGN_OR_RETURN(node.scope, object.OptionalString("scope"));
  return node;
}

absl::StatusOr<OpEdge> ReadEdge(const JsonObject& object) {
  OpEdge edge;
  HONE_ASSIGN_OR_RETURN(edge.from_id, object.Integer("from"));
  HONE_ASSIGN_OR_RETURN(edge.to_id, object.Integer("to"));
  HONE_ASSIGN_OR_RETURN(edge.bytes, object.Number("bytes"));
  return edge;
}

absl::StatusOr<OpGraph> Parse(absl::string_view text) {
  HONE_ASSIGN_OR_RETURN(const Json document, ParseJsonObject(text));
  const JsonObject root(document);
  HONE_ASSIGN_OR_RETURN(std::vector<OpNode> nodes,
                        root.Elements("nodes", ReadNode));
  HONE_ASSIGN_OR_RETURN(std::vector<OpEdge> edges,
                        root.Elements("edges", ReadEdge));
  return OpGraph::Create(std::move(nodes), std::move(edges));
}

}  // namespace

absl::StatusOr<OpGraph> ParseOpGraph(absl::string_view text,
                                     absl::string_view file) {
  absl::StatusOr<OpGraph> graph = Parse(text);
  if (!graph.ok()) return InFile(file, graph.status());
  return graph;
}

std::string PrintOpGraph(const OpGraph& graph) {
  JsonLines nodes;
  for (const OpNode& node : graph.nodes()) {
    nlohmann::ordered_json fields = {{"id", node.id},
                                     {"name", node.name},
                                     {"opcode", node.opcode},
                                     {"flops", node.flops},
                                     {"bytes", node.bytes},
                                     {"output_bytes", node.output_bytes},
                                     {"parameter_bytes", node.parameter_bytes}};
    if (node.is_output) fields["is_output"] = true;
    if (!node.scope.empty()) fields["scope"] = node.scope;
    nodes.Append(fields);
  }
  JsonLines edges;
  for (const OpEdge& edge : graph.edges()) {
    edges.Append(
        {{"from", edge.from_id}, {"to", edge.to_id}, {"bytes", edge.bytes}});
  }
  return absl::StrCat("{\"nodes\":", nodes.Array(),
                      ",\n\"edges\":", edges.Array(), "}\n");
}

}  // namespace hone::graphs
