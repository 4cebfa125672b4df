#ifndef HONE_SPACE_OBSERVATION_H_
#define HONE_SPACE_OBSERVATION_H_

#include <cstdint>
#include <string>
#include <vector>

namespace hone::space {

// The sizes of a problem's observations. They are the same for all instances of
// a problem, so that one policy fits all.
struct ObservationSpec {
  int32_t node_kinds = 1;       // opcodes, for example
  int32_t node_features = 0;    // features of each node
  int32_t edge_features = 0;    // features of each edge
  int32_t global_features = 0;  // features of the whole state
  // One name for each, or none at all. Trained weights stay valid when named
  // kinds or features are added, removed or reordered.
  std::vector<std::string> node_kind_names = {};
  std::vector<std::string> node_feature_names = {};
  std::vector<std::string> edge_feature_names = {};
  std::vector<std::string> global_feature_names = {};

  friend bool operator==(const ObservationSpec&,
                         const ObservationSpec&) = default;
};

// The observation of a state for a learned policy: a directed graph of any size
// with a kind and features at each node, features at each edge, and global
// features. Features are scaled to about -1 … 1.
struct Observation {
  std::vector<int32_t> node_kinds = {};  // [nodes], 0 … spec.node_kinds-1
  std::vector<float> node_features =
      {};  // [nodes, spec.node_features], row-major
  // [edges] each: data flows from edge_sources[i] to edge_targets[i].
  std::vector<int32_t> edge_sources = {};
  std::vector<int32_t> edge_targets = {};
  std::vector<float> edge_features =
      {};  // [edges, spec.edge_features], row-major
  std::vector<float> global_features = {};  // [spec.global_features]
};

}  // namespace hone::space

#endif  // HONE_SPACE_OBSERVATION_H_
