#ifndef HONE_OPTIMIZERS_POLICIES_LEARNING_DQN_LEARNER_H_
#define HONE_OPTIMIZERS_POLICIES_LEARNING_DQN_LEARNER_H_

#include <cstdint>
#include <deque>
#include <memory>

#include "base/rng.h"
#include "optimizers/policies/game/rollout.h"
#include "optimizers/policies/model/model.h"

namespace hone::optimizers::policies {

struct DqnOptions {
  float learning_rate = 1e-3F;
  // The number of most recent turns kept for replay.
  size_t replay_capacity = 20000;
  int32_t batch_size = 32;
  // The number of gradient steps between copies to the target network.
  int32_t target_interval = 50;
  // The number of turns that a target looks ahead.
  int32_t lookahead = 4;
};

// Deep Q-learning (Mnih et al., 2015) with double Q-learning targets (van
// Hasselt, Guez and Silver, 2016) over `lookahead` turns. The action values are
// the model's scores; rewards are not discounted, as games are short.
class DqnLearner {
 public:
  // Changes the weights of `model`, which must outlive the learner.
  DqnLearner(Model& model, const DqnOptions& options, uint64_t seed);
  ~DqnLearner();

  // Adds a trajectory to the replay buffer.
  void Remember(const Trajectory& trajectory);

  // Makes gradient steps on random batches; returns the mean loss.
  double Update(int32_t steps);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_LEARNING_DQN_LEARNER_H_
