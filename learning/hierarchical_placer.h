#ifndef HONE_LEARNING_HIERARCHICAL_PLACER_H_
#define HONE_LEARNING_HIERARCHICAL_PLACER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"

#include "base/rng.h"
#include "space/assignment_problem.h"

namespace hone::learning {

struct HierarchicalPlacerOptions {
  // Fewer if there are fewer operators.
  int32_t groups = 64;
  float learning_rate = 1e-2F;
  // The weight in the first update; each further one has `entropy_decay` times
  // as much.
  float entropy_weight = 3e-2F;
  float entropy_decay = 0.99F;
  // The share of the old baseline in the new one.
  float baseline_decay = 0.9F;
};

// Groups of operators and the device of each group.
struct GroupedPlacement {
  std::vector<int32_t> groups;   // [operators]
  std::vector<int32_t> devices;  // [groups]; -1 of groups without operators
  std::vector<int32_t> values;   // [operators]: the devices of their groups
};

struct HierarchicalPlacerStatistics {
  double baseline = 0;         // that the rewards were compared with
  double grouper_entropy = 0;  // nats per operator
  double placer_entropy = 0;   // nats per group that is not empty
};

// Places the operators of one graph: a feed-forward network assigns each
// operator to a group, a sequence-to-sequence network with attention chooses a
// device for each group. REINFORCE trains both from the rewards of whole
// placements, relative to a moving average. Hides Torch.
//
// Threads: not thread-safe.
// Determinism: by the seed and the generators passed to Draw.
// Source: Mirhoseini et al., "A Hierarchical Model for Device Placement", 2018.
// Differences: features of operators are those of the problem's observation;
// groups are fewer, and in topological order; losses are means over decisions;
// advantages are in units of their moving deviation; an entropy bonus that
// decays takes the place of noise, and bounds of the logits are narrower.
class HierarchicalPlacer {
 public:
  // The operators are the variables of `variables`, a group of `problem`.
  HierarchicalPlacer(const space::AssignmentProblem& problem,
                     const space::VariableGroup& variables,
                     const HierarchicalPlacerOptions& options, uint64_t seed);
  ~HierarchicalPlacer();

  // Draws placements with all logits divided by `temperature`. Time is linear
  // in the graph.
  std::vector<GroupedPlacement> Draw(int32_t count, double temperature,
                                     Rng& rng) const;
  // Makes an update from placements that Draw returned since the last one, at
  // that temperature, never none. `rewards`: [placements].
  HierarchicalPlacerStatistics Update(
      absl::Span<const GroupedPlacement> placements, double temperature,
      absl::Span<const float> rewards);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace hone::learning

#endif  // HONE_LEARNING_HIERARCHICAL_PLACER_H_
