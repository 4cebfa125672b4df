#ifndef HONE_LEARNING_COST_LEARNER_H_
#define HONE_LEARNING_COST_LEARNER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "learning/cost/cost_samples.h"
#include "learning/cost/cost_training_options.h"
#include "learning/models/cost_model.h"

namespace hone::learning {

// Trains a cost model by gradient descent on minibatches of groups. All groups
// must fit the model's spec.
//
// A minibatch is computed in parts on several threads, whose gradients are
// added in a fixed order: results do not depend on the number of threads.
class CostLearner {
 public:
  // `model` must outlive the learner.
  CostLearner(CostModel& model, const CostTrainingOptions& options);
  ~CostLearner();

  // Sets the scales of inputs, and those of heads that learn times, to the
  // means and deviations over the groups.
  void FitScales(absl::Span<const CostGroup> groups);

  // Makes a step for the groups with those of their samples that `Draw` gave.
  // Returns the mean loss.
  struct Drawn {
    const CostGroup* group = nullptr;
    std::vector<size_t> samples;  // indices
  };
  double Update(absl::Span<const Drawn> minibatch, double learning_rate);

  // Does what is left once the weights are final: the scale of heads for an
  // order and the deviations of predictions, from groups that were not trained
  // on if there are any, and what kinds of nodes stand for that no training
  // group has.
  void Finish(absl::Span<const CostGroup> training,
              absl::Span<const CostGroup> validation);

  // The state of the descent, beside the weights.
  std::string SerializeDescent() const;
  // Errors: InvalidArgument if `bytes` are no such state.
  absl::Status ParseDescent(absl::string_view bytes);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace hone::learning

#endif  // HONE_LEARNING_COST_LEARNER_H_
