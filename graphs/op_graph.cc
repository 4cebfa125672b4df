#include "graphs/op_graph.h"

#include <utility>

#include "absl/status/status.h"

#include "base/status_macros.h"
#include "graphs/identified_edges.h"
#include "graphs/quantity.h"

namespace hone::graphs {

absl::StatusOr<OpGraph> OpGraph::Create(std::vector<OpNode> nodes,
                                        std::vector<OpEdge> edges) {
  std::vector<int64_t> ids;
  ids.reserve(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    const OpNode& node = nodes[i];
    ids.push_back(node.id);
    HONE_RETURN_IF_ERROR(CheckQuantity("nodes", i, "flops", node.flops));
    HONE_RETURN_IF_ERROR(CheckQuantity("nodes", i, "bytes", node.bytes));
    HONE_RETURN_IF_ERROR(CheckQuantity("nodes", i, "output_bytes",
                                       node.output_bytes, kMaxMemoryBytes));
    HONE_RETURN_IF_ERROR(CheckQuantity("nodes", i, "parameter_bytes",
                                       node.parameter_bytes, kMaxMemoryBytes));
  }
  std::vector<IdentifiedEdge> ends;
  ends.reserve(edges.size());
  for (size_t i = 0; i < edges.size(); ++i) {
    HONE_RETURN_IF_ERROR(
        CheckQuantity("edges", i, "bytes", edges[i].bytes, kMaxMemoryBytes));
    ends.push_back({edges[i].from_id, edges[i].to_id});
  }
  HONE_ASSIGN_OR_RETURN(
      AcyclicGraph acyclic,
      BuildAcyclicGraph(ids, ends, {.source = "from", .target = "to"}));
  OpGraph graph;
  graph.nodes_ = std::move(nodes);
  graph.edges_ = std::move(edges);
  graph.adjacency_ = std::move(acyclic.adjacency);
  graph.order_ = std::move(acyclic.order);
  return graph;
}

}  // namespace hone::graphs
