#ifndef HONE_LEARNING_COST_KNOWN_INPUTS_H_
#define HONE_LEARNING_COST_KNOWN_INPUTS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

#include "learning/cost/cost_samples.h"

namespace hone::learning {

// The inputs of a cost model's last training: the kinds of nodes in its
// kernels, and the least and the largest value of each feature. About others a
// network learned nothing, whatever it predicts of them. A model that was not
// trained takes all for known.
struct KnownInputs {
  std::vector<bool> kinds;  // [node_kinds]
  struct Range {
    std::vector<float> least;    // [features]
    std::vector<float> largest;  // [features]
  };
  Range nodes, edges, globals, configs;

  // Return false if a kind of a node is none of those, or a feature lies
  // outside of its range by more than a hundredth of it.
  bool KnowGraph(const space::Observation& graph) const;
  bool KnowConfig(absl::Span<const float> config) const;
};

// Returns what the groups are like.
KnownInputs KnownInputsOf(absl::Span<const CostGroup> groups,
                          const CostSpec& spec);

}  // namespace hone::learning

#endif  // HONE_LEARNING_COST_KNOWN_INPUTS_H_
