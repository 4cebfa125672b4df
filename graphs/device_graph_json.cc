#include "graphs/device_graph_json.h"

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

absl::StatusOr<DeviceNode> ReadNode(const JsonObject& object) {
  DeviceNode node;
  HONE_ASSIGN_OR_RETURN(node.id, object.Integer("id"));
  HONE_ASSIGN_OR_RETURN(node.name, object.OptionalString("name"));
  HONE_ASSIGN_OR_RETURN(node.accelerator_latency, object.Number("fpgaLatency"));
  HONE_ASSIGN_OR_RETURN(node.cpu_latency, object.Number("cpuLatency"));
  HONE_ASSIGN_OR_RETURN(node.size_bytes, object.Number("size"));
  HONE_ASSIGN_OR_RETURN(node.supported_on_accelerator,
                        object.Flag("supportedOnFpga"));
  HONE_ASSIGN_OR_RETURN(node.is_backward, object.Flag("isBackwardNode"));
  HONE_ASSIGN_OR_RETURN(node.color_class, object.OptionalInteger("colorClass"));
  return node;
}

absl::StatusOr<DeviceEdge> ReadEdge(const JsonObject& object) {
  DeviceEdge edge;
  HONE_ASSIGN_OR_RETURN(edge.source_id, object.Integer("sourceId"));
  HONE_ASSIGN_OR_RETURN(edge.target_id, object.Integer("destId"));
  HONE_ASSIGN_OR_RETURN(edge.cost, object.Number("cost"));
  return edge;
}

absl::StatusOr<DeviceGraph> Parse(absl::string_view text) {
  HONE_ASSIGN_OR_RETURN(const Json document, ParseJsonObject(text));
  const JsonObject root(document);
  DeviceLimits limits;
  HONE_ASSIGN_OR_RETURN(limits.max_accelerator_bytes,
                        root.Number("maxSizePerFPGA"));
  HONE_ASSIGN_OR_RETURN(limits.accelerators, root.SmallInteger("maxFPGAs"));
  HONE_ASSIGN_OR_RETURN(limits.cpus, root.SmallInteger("maxCPUs"));
  HONE_ASSIGN_OR_RETURN(std::vector<DeviceNode> nodes,
                        root.Elements("nodes", ReadNode));
  HONE_ASSIGN_OR_RETURN(std::vector<DeviceEdge> edges,
                        root.Elements("edges", ReadEdge));
  return DeviceGraph::Create(limits, std::move(nodes), std::move(edges));
}

}  // namespace

absl::StatusOr<DeviceGraph> ParseDeviceGraph(absl::string_view text,
                                             absl::string_view file) {
  absl::StatusOr<DeviceGraph> graph = Parse(text);
  if (!graph.ok()) return InFile(file, graph.status());
  return graph;
}

std::string PrintDeviceGraph(const DeviceGraph& graph) {
  JsonLines nodes;
  for (const DeviceNode& node : graph.nodes()) {
    nlohmann::ordered_json object = {
        {"id", node.id},
        {"name", node.name},
        {"fpgaLatency", node.accelerator_latency},
        {"cpuLatency", node.cpu_latency},
        {"size", node.size_bytes},
        {"supportedOnFpga", node.supported_on_accelerator ? 1 : 0},
        {"isBackwardNode", node.is_backward ? 1 : 0}};
    if (node.color_class.has_value()) object["colorClass"] = *node.color_class;
    nodes.Append(object);
  }
  JsonLines edges;
  for (const DeviceEdge& edge : graph.edges()) {
    edges.Append({{"sourceId", edge.source_id},
                  {"destId", edge.target_id},
                  {"cost", edge.cost}});
  }
  const DeviceLimits& limits = graph.limits();
  return absl::StrCat(
      "{\"maxSizePerFPGA\":", Json(limits.max_accelerator_bytes).dump(),
      ",\"maxFPGAs\":", limits.accelerators, ",\"maxCPUs\":", limits.cpus,
      ",\n\"nodes\":", nodes.Array(), ",\n\"edges\":", edges.Array(), "}\n");
}

}  // namespace hone::graphs
