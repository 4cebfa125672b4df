#ifndef HONE_GRAPHS_OP_GRAPH_JSON_H_
#define HONE_GRAPHS_OP_GRAPH_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "graphs/op_graph.h"

namespace hone::graphs {

// Reads Hone's own graph format:
//
//   {"nodes": [{"id", "name"?, "opcode", "flops", "bytes", "output_bytes",
//               "parameter_bytes"}],
//    "edges": [{"from", "to", "bytes"}]}
//
// Other fields are ignored.
// Errors: InvalidArgument with one line, "FILE: what and where, what was
// expected", for text that is not JSON, missing fields, wrong types, and all
// that OpGraph::Create refuses. `file` is for messages only.
absl::StatusOr<OpGraph> ParseOpGraph(absl::string_view text,
                                     absl::string_view file);

// Returns the graph in that format, one node or edge a line. Parsing it gives
// an equal graph, if names and opcodes are UTF-8.
std::string PrintOpGraph(const OpGraph& graph);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_OP_GRAPH_JSON_H_
