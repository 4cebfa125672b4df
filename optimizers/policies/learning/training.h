#ifndef HONE_OPTIMIZERS_POLICIES_LEARNING_TRAINING_H_
#define HONE_OPTIMIZERS_POLICIES_LEARNING_TRAINING_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "space/problem.h"

namespace hone::optimizers::policies {

// A training problem, rebuilt for each use to bound memory.
struct TrainingProblem {
  std::string name;
  std::function<absl::StatusOr<std::unique_ptr<space::Problem>>()> make;
};

struct TrainingSet {
  // Problems of one kind (Problem::policy_name); at least one.
  std::vector<TrainingProblem> training;
  // The validation set: never trained on, selects the weights to keep.
  std::vector<TrainingProblem> validation;
};

// The progress of training.
struct TrainingProgress {
  int64_t update = 0;
  // Geometric mean over the validation problems of the policy's own cost
  // divided by the default's; 0 before it is measured.
  double validation = 0;
  double best_validation = 0;
  double mean_reward = 0;
  double entropy = 0;
  double imitation_loss = 0;
  double seconds = 0;
};

struct TrainingOptions {
  uint64_t seed = 0;
  // Weights to start from; empty for random ones.
  std::string initial_weights;
  // Trials of the search that finds the sequences to imitate first; 0 to
  // imitate nothing.
  int64_t search_trials = 3000;
  int64_t updates = 400;
  absl::Duration time = absl::InfiniteDuration();
  // File for the weights that did best on the validation problems.
  std::string weights_file;
  // File for the state of the training, to resume after an interruption;
  // removed at the end.
  std::string state_file;
  // File for a line per update, CSV with a header.
  std::string curve_file;
  // Called at every tenth update, and at every tenth round of imitation.
  std::function<void(const TrainingProgress&)> on_progress;
};

struct TrainingResult {
  int64_t updates = 0;
  double best_validation = 0;
};

// Trains a policy: imitates what beam search finds on each training problem,
// then improves by PPO on groups of episodes. Goes on from options.state_file
// if there is one of the same set, seed and actions.
// Errors: InvalidArgument for an empty set or initial weights that do not
// match; NotFound if they cannot be read; those of the problems and of writing
// the files.
absl::StatusOr<TrainingResult> Train(const TrainingSet& set,
                                     const TrainingOptions& options);

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_LEARNING_TRAINING_H_
