#include "tuning/tasks/partition_observation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace hone::tuning {
namespace {

using graphs::NodeIndex;
using graphs::PartitionGraph;

// Returns 0 for a share of 1e-4 or less, 1 for a share of 1, linear in the
// logarithm, at most 2.
float LogShare(double value, double total) {
  constexpr double kDecades = 4;
  const double share = total > 0 ? value / total : 0;
  if (!(share > 1e-4)) return 0;
  return static_cast<float>(std::min(2.0, 1 + std::log10(share) / kDecades));
}

float LogCount(size_t count) {
  return static_cast<float>(
      std::min(1.0, std::log2(1 + static_cast<double>(count)) / 16));
}

float Share(double value, double total) {
  return total > 0 ? static_cast<float>(std::min(1.0, value / total)) : 1;
}

double TotalBytes(const PartitionGraph& graph) {
  double total = 0;
  for (const graphs::PartitionNode& node : graph.nodes()) {
    total += node.resident_bytes;
  }
  for (const graphs::PartitionSource& source : graph.sources()) {
    total += source.resident_bytes;
  }
  return total;
}

// Where a node is, each as a share from 0 to 1. [nodes]
struct Places {
  std::vector<float> position;   // in the topological order
  std::vector<float> work_done;  // before it there, and half of its own
  std::vector<float> depth;      // of the longest way, in nodes
};

Places FindPlaces(const PartitionGraph& graph) {
  const double total = std::max(graph.total_time(), 1e-30);
  Places places;
  places.position.resize(graph.size());
  places.work_done.resize(graph.size());
  places.depth.resize(graph.size());
  double done = 0;
  float deepest = 1;
  for (size_t i = 0; i < graph.size(); ++i) {
    const NodeIndex node = graph.topological_order()[i];
    const double time = graph.node(node).time;
    places.position[node] =
        static_cast<float>(i) / static_cast<float>(graph.size());
    places.work_done[node] = Share(done + time / 2, total);
    done += time;
    for (const NodeIndex before : graph.adjacency().predecessors(node)) {
      places.depth[node] =
          std::max(places.depth[node], places.depth[before] + 1);
    }
    deepest = std::max(deepest, places.depth[node]);
  }
  for (float& depth : places.depth) depth /= deepest;
  return places;
}

}  // namespace

space::ObservationSpec PartitionObservationSpec() {
  space::ObservationSpec spec;
  spec.node_kind_names = {"node"};
  spec.node_feature_names = {"time",         "transfer",   "resident_bytes",
                             "output_bytes", "position",   "work_done",
                             "in_degree",    "out_degree", "depth"};
  spec.edge_feature_names = {"transfer", "work_between"};
  spec.global_feature_names = {"nodes", "edges", "chips", "memory"};
  spec.node_kinds = static_cast<int32_t>(spec.node_kind_names.size());
  spec.node_features = static_cast<int32_t>(spec.node_feature_names.size());
  spec.edge_features = static_cast<int32_t>(spec.edge_feature_names.size());
  spec.global_features = static_cast<int32_t>(spec.global_feature_names.size());
  return spec;
}

space::Observation ObservePartition(const PartitionGraph& graph) {
  const double share = graph.total_time() / graph.chips();
  const double memory = graph.memory_bytes();
  const Places places = FindPlaces(graph);
  space::Observation seen;
  for (size_t i = 0; i < graph.size(); ++i) {
    const auto index = static_cast<NodeIndex>(i);
    const graphs::PartitionNode& node = graph.node(index);
    const auto successors = graph.adjacency().successors(index);
    seen.node_kinds.push_back(0);
    seen.node_features.insert(
        seen.node_features.end(),
        {LogShare(node.time, share), LogShare(node.transfer_time, share),
         Share(node.resident_bytes, memory), Share(node.output_bytes, memory),
         places.position[i], places.work_done[i],
         LogCount(graph.adjacency().predecessors(index).size()),
         LogCount(successors.size()), places.depth[i]});
    for (const NodeIndex target : successors) {
      seen.edge_sources.push_back(static_cast<int32_t>(i));
      seen.edge_targets.push_back(static_cast<int32_t>(target));
      seen.edge_features.insert(
          seen.edge_features.end(),
          {LogShare(node.transfer_time, share),
           std::max(0.0F, places.work_done[target] - places.work_done[i])});
    }
  }
  seen.global_features = {LogCount(graph.size()),
                          LogCount(seen.edge_sources.size()),
                          static_cast<float>(graph.chips()) / 64,
                          Share(TotalBytes(graph), memory * graph.chips())};
  return seen;
}

std::vector<std::string> ChipFeatureNames() { return {"place", "memory"}; }

std::vector<float> ChipFeatures(const PartitionGraph& graph) {
  const float memory = Share(graph.memory_bytes(), TotalBytes(graph));
  std::vector<float> features;
  for (int32_t c = 0; c < graph.chips(); ++c) {
    features.insert(features.end(), {(static_cast<float>(c) + 0.5F) /
                                         static_cast<float>(graph.chips()),
                                     memory});
  }
  return features;
}

}  // namespace hone::tuning
