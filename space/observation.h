#ifndef HONE_SPACE_OBSERVATION_H_
#define HONE_SPACE_OBSERVATION_H_

#include <cstdint>
#include <vector>

namespace hone::space {

// The sizes of a problem's observations; the same for every instance of a
// problem, so that one policy fits them all.
struct ObservationSpec {
  int32_t node_kinds = 1;       // opcodes, for example
  int32_t node_features = 0;    // numbers at each node
  int32_t global_features = 0;  // numbers of the whole state

  friend bool operator==(const ObservationSpec&,
                         const ObservationSpec&) = default;
};

// What a learned policy sees of a state: a directed graph of any size with a
// kind and numbers at each node, and numbers of the whole. Numbers are scaled
// to about -1 … 1.
struct Observation {
  std::vector<int32_t> node_kinds;   // [nodes], 0 … spec.node_kinds-1
  std::vector<float> node_features;  // [nodes, spec.node_features], row-major
  // [edges] each: data flows from edge_sources[i] to edge_targets[i].
  std::vector<int32_t> edge_sources;
  std::vector<int32_t> edge_targets;
  std::vector<float> global_features;  // [spec.global_features]
};

}  // namespace hone::space

#endif  // HONE_SPACE_OBSERVATION_H_
