#ifndef HONE_LEARNING_PPO_LEARNER_H_
#define HONE_LEARNING_PPO_LEARNER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "learning/games/labels.h"
#include "learning/games/rollout.h"
#include "learning/models/model.h"

namespace hone::learning {

struct PpoOptions {
  float learning_rate = 1e-3F;
  int32_t epochs = 3;
  // Turns that one step of the gradient descent is made from.
  int32_t minibatch = 128;
  float clip = 0.2F;
  float discount = 0.99F;
  float trace = 0.95F;  // lambda of the advantage estimates
  // Weight of an episode's advantage over the others of its group.
  float group_weight = 0.5F;
  float entropy_weight = 0.01F;
  float value_weight = 0.5F;
  // Weight of the cross entropy of the turns to imitate.
  float imitation_weight = 0.2F;
  // An update ends early once the policy is that far from where it began, in
  // nats of Kullback-Leibler divergence.
  float max_divergence = 0.05F;
};

// Statistics of an update.
struct PpoStatistics {
  double mean_reward = 0;  // of an episode, or its part in the update
  double entropy = 0;      // of the policy, nats per turn
  double policy_loss = 0;
  double value_loss = 0;
  double imitation_loss = 0;
  double divergence = 0;  // of the policy from the one that played
};

// Trajectories of one game, which are compared with each other.
using TrajectoryGroup = std::vector<Trajectory>;

struct LabelStatistics {
  double change_loss = 0;  // cross entropy in nats per move
  double reward_loss = 0;  // Huber loss of rewards in units of 0.02
  double choice_loss = 0;  // cross entropy of the choice in nats
};

// Proximal policy optimization (Schulman et al., 2017) with generalized
// advantage estimates. Beyond that, an episode's advantage over the others of
// its group is added to all its turns, as games of different problems pay
// differently; and good turns from any source are imitated in the same steps,
// as a term of the loss.
class PpoLearner {
 public:
  // Changes the weights of `model`, which must outlive the learner.
  PpoLearner(Model& model, const PpoOptions& options, uint64_t seed);
  ~PpoLearner();

  // Makes one update from trajectories that `model` played with its current
  // weights. `elites` are good turns from any source.
  PpoStatistics Update(absl::Span<const TrajectoryGroup> groups,
                       absl::Span<const Turn> elites);

  // Makes one pass over `turns`, learning to choose as they do. Returns the
  // mean cross entropy of the pass in nats.
  double Imitate(absl::Span<const Turn> turns, float learning_rate);

  // Makes one pass over labels: learns what moves do and, as far as
  // `choice_weight` says, to prefer those that pay at once, in proportion to
  // the exponential of their rewards. Of a state with MoveLabels::tried, those
  // that were tried are compared with each other.
  LabelStatistics LearnLabels(absl::Span<const MoveLabels> labels,
                              float choice_weight, float learning_rate);

  // Serializes the state of the gradient descent and of the random order of
  // turns, for resuming.
  std::string SerializeDescent() const;
  // Errors: InvalidArgument.
  absl::Status ParseDescent(absl::string_view bytes);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace hone::learning

#endif  // HONE_LEARNING_PPO_LEARNER_H_
