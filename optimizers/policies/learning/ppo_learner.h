#ifndef HONE_OPTIMIZERS_POLICIES_LEARNING_PPO_LEARNER_H_
#define HONE_OPTIMIZERS_POLICIES_LEARNING_PPO_LEARNER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "base/rng.h"
#include "optimizers/policies/game/rollout.h"
#include "optimizers/policies/model/model.h"

namespace hone::optimizers::policies {

struct PpoOptions {
  float learning_rate = 1e-3F;
  int32_t epochs = 3;
  float clip = 0.2F;
  float entropy_weight = 0.01F;
  float value_weight = 0.5F;
  // Weight of imitating elite turns beside the policy's own.
  float imitation_weight = 0.2F;
};

// Statistics of an update.
struct PpoStatistics {
  double mean_reward = 0;  // of an episode
  double entropy = 0;      // of the policy, nats per turn
  double policy_loss = 0;
  double value_loss = 0;
  double imitation_loss = 0;
};

// Trajectories of one game, which are compared with each other.
using TrajectoryGroup = std::vector<Trajectory>;

// Proximal policy optimization (Schulman et al., 2017, equation 9) with
// generalized advantage estimation (Schulman et al., 2015). Beyond that, an
// episode's advantage over the others of its group is added to all its turns
// (the group baseline of Shao et al., "DeepSeekMath", 2024, section 4.1), as
// games of different problems pay differently; and the turns of elite episodes
// are imitated.
class PpoLearner {
 public:
  // Changes the weights of `model`, which must outlive the learner.
  PpoLearner(Model& model, const PpoOptions& options, uint64_t seed);
  ~PpoLearner();

  // Makes one update from trajectories that `model` played with its current
  // weights. `elites` are good turns from any source.
  PpoStatistics Update(absl::Span<const TrajectoryGroup> groups,
                       absl::Span<const Turn* const> elites);

  // Makes one pass over `turns`, learning to choose as they do. Returns the
  // mean cross entropy of the pass in nats.
  double Imitate(absl::Span<const Turn* const> turns, float learning_rate);

  // Serializes the state of the gradient descent and of the random order of
  // turns, for resuming.
  std::string SerializeOptimizer() const;
  // Errors: InvalidArgument.
  absl::Status ParseOptimizer(absl::string_view bytes);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_LEARNING_PPO_LEARNER_H_
