#ifndef HONE_LEARNING_DQN_LEARNER_H_
#define HONE_LEARNING_DQN_LEARNER_H_

#include <cstdint>
#include <deque>
#include <memory>

#include "base/rng.h"
#include "learning/games/rollout.h"
#include "learning/models/model.h"

namespace hone::learning {

struct DqnOptions {
  float learning_rate = 1e-3F;
  // The number of most recent turns kept for replay.
  size_t replay_capacity = 20000;
  int32_t batch_size = 32;
  // The number of gradient steps between copies to the target network.
  int32_t target_interval = 50;
  // The number of turns that a target looks ahead at most; it ends before a
  // turn that explored.
  int32_t lookahead = 4;
  float discount = 0.99F;
};

// Deep Q-learning (Mnih et al., 2015) with double Q-learning targets (van
// Hasselt, Guez and Silver, 2016) over up to `lookahead` greedy turns. The
// action values are the model's scores.
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

}  // namespace hone::learning

#endif  // HONE_LEARNING_DQN_LEARNER_H_
