#ifndef HONE_LEARNING_COST_TRAINING_H_
#define HONE_LEARNING_COST_TRAINING_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "learning/cost/cost_metrics.h"
#include "learning/cost/cost_options.h"
#include "learning/cost/cost_samples.h"
#include "learning/cost/cost_training_options.h"

namespace hone::learning {

// The data that a cost model is trained on.
struct CostTrainingSet {
  CostSpec spec;
  std::vector<CostGroup> training = {};
  // Never trained on: selects the weights to keep.
  std::vector<CostGroup> validation = {};
};

struct CostProgress {
  int64_t epoch = 0;  // epochs done
  double seconds = 0;
  double loss = 0;  // mean over the last epoch
  double samples_per_second = 0;
  // Of the validation groups, or the training groups if there are no others.
  std::vector<ProgramMetrics> metrics;
  double error = 0;  // SelectionError
  double best_error = 0;
};

struct CostTraining {
  CostOptions architecture = {};  // of new weights
  CostTrainingOptions options = {};
  // Weights to start from, in place of random ones; their architecture counts.
  std::string initial_weights = {};
  // Training stops after the epoch in which this time is over, all runs
  // together.
  absl::Duration time = absl::InfiniteDuration();
  // File for the weights that did best in validation. Required.
  std::string weights_file = {};
  // File for the state after each epoch, to go on after an interruption;
  // removed at the end. Empty: none.
  std::string state_file = {};
  std::function<void(const CostProgress&)> on_progress =
      {};  // after each epoch
};

struct CostTrainingResult {
  int64_t epochs = 0;
  double best_error = 0;
  std::vector<ProgramMetrics> metrics;  // of the weights that were kept
};

// Trains a cost model. Goes on from training.state_file if there is one of a
// training with the same set, architecture and options: an interrupted training
// makes the same weights as another, and so does the same seed.
// Errors: InvalidArgument for an empty or unfit set, weights that do not match,
// or a state file that is none; FailedPrecondition if it belongs to another
// training; those of reading and writing the files.
absl::StatusOr<CostTrainingResult> TrainCostModel(const CostTrainingSet& set,
                                                  const CostTraining& training);

}  // namespace hone::learning

#endif  // HONE_LEARNING_COST_TRAINING_H_
