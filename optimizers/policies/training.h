#ifndef HONE_OPTIMIZERS_POLICIES_TRAINING_H_
#define HONE_OPTIMIZERS_POLICIES_TRAINING_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "space/problem.h"

namespace hone::optimizers::policies {

// A problem to learn on, made anew whenever it is played, so that memory stays
// bounded.
struct TrainingProblem {
  std::string name;
  std::function<absl::StatusOr<std::unique_ptr<space::Problem>>()> make;
};

struct TrainingSet {
  // Of one kind (Problem::policy_name); not empty.
  std::vector<TrainingProblem> training;
  // Never learned from: they choose which weights are kept.
  std::vector<TrainingProblem> validation;
};

// How far training is.
struct TrainingProgress {
  int64_t update = 0;
  // Geometric mean over the validation problems of the cost that the policy
  // reaches by itself over the default's; 0 before it was measured.
  double validation = 0;
  double best_validation = 0;
  double mean_reward = 0;
  double entropy = 0;
  double imitation_loss = 0;
  double seconds = 0;
};

struct TrainingOptions {
  uint64_t seed = 0;
  // Trials of the search that finds the sequences to imitate first.
  int64_t search_trials = 3000;
  int64_t updates = 400;
  absl::Duration time = absl::InfiniteDuration();
  // The weights that did best on the validation problems.
  std::string weights_file;
  // Where training stands, to go on from after an interruption; removed at the
  // end.
  std::string state_file;
  // A line per update, CSV with a header.
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
// if there is one of the same set and seed.
// Errors: InvalidArgument for an empty set; those of the problems and of
// writing the files.
absl::StatusOr<TrainingResult> Train(const TrainingSet& set,
                                     const TrainingOptions& options);

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_TRAINING_H_
