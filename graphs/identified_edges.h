#ifndef HONE_GRAPHS_IDENTIFIED_EDGES_H_
#define HONE_GRAPHS_IDENTIFIED_EDGES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "graphs/adjacency.h"

namespace hone::graphs {

// An edge between nodes given by their ids.
struct IdentifiedEdge {
  int64_t source_id = 0;
  int64_t target_id = 0;
};

// The fields of a file format that hold the ends of an edge, for messages.
struct EdgeFields {
  absl::string_view source;
  absl::string_view target;
};

struct AcyclicGraph {
  Adjacency adjacency;
  std::vector<Arc> arcs;         // in the order of the edges
  std::vector<NodeIndex> order;  // all nodes, each after its predecessors
};

// Returns the acyclic graph with one node for each of `ids`, in their order.
// Errors: InvalidArgument for no nodes, ids that are not distinct, ends that
// are no ids, edges from a node to itself, edges given twice and cycles.
// Messages name the place as in JSON: "edges[3].sourceId".
absl::StatusOr<AcyclicGraph> BuildAcyclicGraph(
    absl::Span<const int64_t> ids, absl::Span<const IdentifiedEdge> edges,
    const EdgeFields& fields);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_IDENTIFIED_EDGES_H_
