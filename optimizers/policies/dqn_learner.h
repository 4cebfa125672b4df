#ifndef HONE_OPTIMIZERS_POLICIES_DQN_LEARNER_H_
#define HONE_OPTIMIZERS_POLICIES_DQN_LEARNER_H_

#include <cstdint>
#include <deque>
#include <memory>

#include "base/rng.h"
#include "optimizers/policies/model.h"
#include "optimizers/policies/rollout.h"

namespace hone::optimizers::policies {

struct DqnOptions {
  float learning_rate = 1e-3F;
  // Turns kept for replay, the youngest.
  size_t replay_capacity = 20000;
  int32_t batch_size = 32;
  // Gradient steps between copies to the target network.
  int32_t target_interval = 50;
  // Turns that a target looks ahead.
  int32_t lookahead = 4;
};

// Deep Q-learning (Mnih et al., 2015) with double Q-learning targets (van
// Hasselt, Guez and Silver, 2016) over `lookahead` turns. The action values are
// the model's scores; rewards are not discounted, as games are short.
class DqnLearner {
 public:
  // `model` must outlive this, which changes its weights.
  DqnLearner(Model& model, const DqnOptions& options, uint64_t seed);
  ~DqnLearner();

  // Puts an episode into the replay buffer.
  void Remember(const Episode& episode);

  // Gradient steps on random batches; returns the mean loss.
  double Update(int32_t steps);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_DQN_LEARNER_H_
