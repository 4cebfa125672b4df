#ifndef HONE_GRAPHS_UNROLLED_GRAPH_H_
#define HONE_GRAPHS_UNROLLED_GRAPH_H_

#include <cstdint>

#include "absl/status/statusor.h"

#include "graphs/op_graph.h"

namespace hone::graphs {

struct UnrolledOptions {
  int32_t layers = 8;
  int32_t steps = 32;  // of time
  // The sizes of all activations and weights.
  double batch = 64;
  double width = 1024;
};

// Returns the operators of one training step of a recurrent network whose loop
// over time is unrolled, to measure what grows with a graph: for each layer and
// step a cell of two matrix products, gates and a state, and its backward pass;
// for each layer the sum of the gradients of all steps and the update of the
// weights. Every eighth step, a cell also reads the states of the layer below
// of all steps since the last such step, as attention does. About 21 nodes for
// each layer and step; each layer is a scope.
// Errors: InvalidArgument unless all options are positive.
absl::StatusOr<OpGraph> MakeUnrolledGraph(const UnrolledOptions& options);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_UNROLLED_GRAPH_H_
