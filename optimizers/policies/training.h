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

// A training problem, rebuilt for each use to bound memory.
struct TrainingProblem {
  std::string name;
  std::function<absl::StatusOr<std::shared_ptr<space::Problem>>()> make;
};

struct TrainingSet {
  // Problems of one kind (Problem::policy_name); at least one.
  std::vector<TrainingProblem> training;
  // The validation set: never trained on, selects the weights to keep.
  std::vector<TrainingProblem> validation;
};

// The progress of training.
struct TrainingProgress {
  int64_t label_round = 0;
  int64_t update = 0;
  // Geometric mean over the validation problems of the policy's own cost
  // divided by the default's; 0 before it is measured.
  double validation = 0;
  double best_validation = 0;
  double mean_reward = 0;
  double entropy = 0;
  double imitation_loss = 0;
  double label_loss = 0;  // of the choice, in nats
  double seconds = 0;
};

struct TrainingOptions {
  uint64_t seed = 0;
  // Weights to start from; empty for random ones.
  std::string initial_weights = {};
  // The architecture of new weights, as learning/networks/encoder_options.h
  // reads it. Empty: initial_weights say, or the default.
  std::string architecture = {};
  // Take of initial_weights what fits, where they are of another architecture
  // or see something else; else they are refused.
  bool partial = false;
  // The search that finds the solutions to imitate first, and its trials; 0 to
  // imitate nothing.
  std::string teacher = "annealing";
  int64_t search_trials = 3000;
  // Rounds of learning what each move does in states that the teacher and the
  // policy come through; of an assignment, to choose the teacher's values.
  int64_t label_rounds = 8;
  // Problems, and episodes or assignments of each, that an update is made from.
  int32_t problems_per_update = 4;
  int32_t episodes_per_problem = 8;
  int64_t updates = 400;
  absl::Duration time = absl::InfiniteDuration();
  // File for the weights that did best on the validation problems, or on the
  // training problems if there are no others. Required.
  std::string weights_file;
  // File for the state of the training, to resume after an interruption;
  // removed at the end.
  std::string state_file;
  // File for a line per update, CSV with a header.
  std::string curve_file;
  // Called after each round of labels and at every tenth update.
  std::function<void(const TrainingProgress&)> on_progress;
  // Called with a line that the user should know.
  std::function<void(const std::string&)> on_note;
};

struct TrainingResult {
  int64_t updates = 0;
  double best_validation = 0;
};

// Trains a policy of problems of one kind. For sequences it learns what moves
// do in the states that a search and the policy itself come through, and to
// choose as the search did; for assignments, to choose the search's values.
// Then it improves by PPO on groups of episodes or assignments. Goes on from
// options.state_file if there is one of a training with the same names of
// problems, seed, spec and options but updates and time: an interrupted
// training makes the same weights as another. Errors: InvalidArgument for an
// empty set, problems of both kinds, an architecture that is none, or initial
// weights that do not match; NotFound if they cannot be read; those of the
// problems and of writing the files.
absl::StatusOr<TrainingResult> Train(const TrainingSet& set,
                                     const TrainingOptions& options);

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_TRAINING_H_
