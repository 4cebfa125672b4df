#include "learning/networks/graph_batch.h"

#include <algorithm>
#include <cstddef>

#include "learning/networks/tensors.h"

namespace hone::learning {
namespace {

template <typename T>
void Append(const std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

GraphBatch MakeGraphBatch(absl::Span<const space::Observation* const> graphs,
                          const space::ObservationSpec& spec) {
  std::vector<int32_t> kinds, graph_of_node, sources, targets;
  std::vector<float> features, edge_features, globals, sizes;
  GraphBatch batch;
  for (size_t g = 0; g < graphs.size(); ++g) {
    const space::Observation& graph = *graphs[g];
    const auto base = static_cast<int32_t>(kinds.size());
    batch.first_nodes.push_back(base);
    Append(graph.node_kinds, kinds);
    Append(graph.node_features, features);
    Append(graph.edge_features, edge_features);
    Append(graph.global_features, globals);
    graph_of_node.resize(kinds.size(), static_cast<int32_t>(g));
    sizes.push_back(static_cast<float>(graph.node_kinds.size()));
    for (size_t e = 0; e < graph.edge_sources.size(); ++e) {
      sources.push_back(base + graph.edge_sources[e]);
      targets.push_back(base + graph.edge_targets[e]);
    }
  }
  std::vector<float> in_degree(kinds.size()), out_degree(kinds.size());
  for (size_t e = 0; e < sources.size(); ++e) {
    ++out_degree[static_cast<size_t>(sources[e])];
    ++in_degree[static_cast<size_t>(targets[e])];
  }
  for (float& degree : in_degree) degree = std::max(degree, 1.0F);
  for (float& degree : out_degree) degree = std::max(degree, 1.0F);

  const auto nodes = static_cast<int64_t>(kinds.size());
  const auto edges = static_cast<int64_t>(sources.size());
  const auto count = static_cast<int64_t>(graphs.size());
  batch.first_nodes.push_back(nodes);
  batch.node_kinds = Ids(kinds, {nodes});
  batch.node_features = Numbers(features, {nodes, spec.node_features});
  batch.graph_of_node = Ids(graph_of_node, {nodes});
  batch.nodes_of_graph = Numbers(sizes, {count, 1});
  batch.sources = Ids(sources, {edges});
  batch.targets = Ids(targets, {edges});
  batch.edge_features = Numbers(edge_features, {edges, spec.edge_features});
  batch.in_degree = Numbers(in_degree, {nodes, 1});
  batch.out_degree = Numbers(out_degree, {nodes, 1});
  batch.globals = Numbers(globals, {count, spec.global_features});
  return batch;
}

}  // namespace hone::learning
