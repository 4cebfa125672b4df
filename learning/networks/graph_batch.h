#ifndef HONE_LEARNING_NETWORKS_GRAPH_BATCH_H_
#define HONE_LEARNING_NETWORKS_GRAPH_BATCH_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include <torch/torch.h>

#include "space/observation.h"

namespace hone::learning {

// U graphs of any size as tensors, with N nodes and E edges in all.
struct GraphBatch {
  torch::Tensor node_kinds;      // [N] int64
  torch::Tensor node_features;   // [N, node_features]
  torch::Tensor graph_of_node;   // [N] int64, 0 … U-1, ascending
  torch::Tensor nodes_of_graph;  // [U, 1] float: their number
  torch::Tensor sources;         // [E] int64
  torch::Tensor targets;         // [E] int64
  torch::Tensor edge_features;   // [E, edge_features]
  torch::Tensor in_degree;       // [N, 1], at least 1
  torch::Tensor out_degree;      // [N, 1], at least 1
  torch::Tensor globals;         // [U, global_features]
  // The first node of each graph, and N.
  std::vector<int64_t> first_nodes;  // [U + 1]
};

GraphBatch MakeGraphBatch(absl::Span<const space::Observation* const> graphs,
                          const space::ObservationSpec& spec);

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_GRAPH_BATCH_H_
