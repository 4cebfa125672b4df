#include "graphs/identified_edges.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace hone::graphs {
namespace {

constexpr size_t kMaxNodes = size_t{1} << 30;
// A longer cycle is shown by its first nodes.
constexpr size_t kShownCycle = 8;

std::string CycleText(absl::Span<const int64_t> ids,
                      absl::Span<const NodeIndex> cycle) {
  std::string text;
  for (const NodeIndex node : cycle.subspan(0, kShownCycle)) {
    absl::StrAppend(&text, ids[node], " -> ");
  }
  if (cycle.size() > kShownCycle) absl::StrAppend(&text, "… -> ");
  return absl::StrCat(text, ids[cycle.front()]);
}

}  // namespace

absl::StatusOr<AcyclicGraph> BuildAcyclicGraph(
    absl::Span<const int64_t> ids, absl::Span<const IdentifiedEdge> edges,
    const EdgeFields& fields) {
  if (ids.empty()) {
    return absl::InvalidArgumentError("nodes is empty, expected a node");
  }
  if (ids.size() > kMaxNodes) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "nodes has %d elements, expected at most %d", ids.size(), kMaxNodes));
  }
  absl::flat_hash_map<int64_t, NodeIndex> index_of;
  index_of.reserve(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto [place, inserted] =
        index_of.try_emplace(ids[i], static_cast<NodeIndex>(i));
    if (!inserted) {
      return absl::InvalidArgumentError(
          absl::StrFormat("nodes[%d].id is %d as nodes[%d].id is, expected "
                          "distinct ids",
                          i, ids[i], place->second));
    }
  }
  AcyclicGraph graph;
  graph.arcs.reserve(edges.size());
  absl::flat_hash_map<std::pair<NodeIndex, NodeIndex>, size_t> first;
  first.reserve(edges.size());
  for (size_t i = 0; i < edges.size(); ++i) {
    const auto source = index_of.find(edges[i].source_id);
    if (source == index_of.end()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("edges[%d].%s is %d, expected the id of a node", i,
                          fields.source, edges[i].source_id));
    }
    const auto target = index_of.find(edges[i].target_id);
    if (target == index_of.end()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("edges[%d].%s is %d, expected the id of a node", i,
                          fields.target, edges[i].target_id));
    }
    if (source == target) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "edges[%d].%s is %d, the source itself, expected another node", i,
          fields.target, edges[i].target_id));
    }
    const auto [place, inserted] =
        first.try_emplace({source->second, target->second}, i);
    if (!inserted) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "edges[%d] leads from %d to %d as edges[%d] does, expected each edge "
          "once",
          i, edges[i].source_id, edges[i].target_id, place->second));
    }
    graph.arcs.push_back({source->second, target->second});
  }
  graph.adjacency = Adjacency(ids.size(), graph.arcs);
  graph.order = TopologicalOrder(graph.adjacency);
  if (graph.order.size() < ids.size()) {
    const std::vector<NodeIndex> cycle = FindCycle(graph.adjacency);
    return absl::InvalidArgumentError(
        absl::StrCat("edges form the cycle ", CycleText(ids, cycle),
                     " of node ids, expected none"));
  }
  return graph;
}

}  // namespace hone::graphs
