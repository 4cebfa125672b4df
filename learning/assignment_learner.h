#ifndef HONE_LEARNING_ASSIGNMENT_LEARNER_H_
#define HONE_LEARNING_ASSIGNMENT_LEARNER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "learning/assignments/described_move.h"
#include "learning/assignments/sample.h"
#include "learning/assignments/value_view.h"
#include "learning/models/assignment_model.h"

namespace hone::learning {

struct AssignmentPpoOptions {
  float learning_rate = 3e-3F;
  int32_t epochs = 3;
  float clip = 0.2F;
  float entropy_weight = 1e-3F;
  // Moves only: keeps the encoder as it is, so that an update is cheap on large
  // graphs.
  bool heads_only = false;
  // Weight of the cross entropy of the changes that improved an assignment.
  float imitation_weight = 0.1F;
};

struct AssignmentPpoStatistics {
  double policy_loss = 0;
  double entropy = 0;  // nats per variable drawn
  double imitation_loss = 0;
};

// An assignment to choose after another one.
struct AssignmentLesson {
  std::shared_ptr<const ValueView> view;
  std::vector<int32_t> before;
  // [variables] each, as those of an AssignmentSample: the values to choose,
  // and what there is to choose from.
  std::vector<int32_t> values;
  std::vector<uint64_t> choice;
};

// Proximal policy optimization for assignments that are drawn whole: all
// samples of an update were drawn after the same assignment, with the same
// scores, and are compared with each other. The ratio of probabilities is
// clipped for each variable by itself; variables that the constraints decided
// carry no gradient.
class AssignmentLearner {
 public:
  // Changes the weights of `model`, which must outlive the learner.
  AssignmentLearner(AssignmentModel& model, const AssignmentPpoOptions& options,
                    uint64_t seed);
  ~AssignmentLearner();

  // Makes an update from samples drawn after the assignment `before`, whose
  // values were preferred by `keep` (PreferValues). `rewards`: [samples];
  // `reward_before` is that of `before`: samples above it are imitated where
  // they differ from it.
  AssignmentPpoStatistics Update(const ValueView& view,
                                 absl::Span<const int32_t> before, float keep,
                                 absl::Span<const AssignmentSample> samples,
                                 absl::Span<const float> rewards,
                                 float reward_before);

  // Makes one pass over `lessons`, learning to choose as they do. Returns the
  // mean cross entropy of the pass in nats per variable.
  double Imitate(absl::Span<const AssignmentLesson> lessons,
                 float learning_rate);

  // Makes a step of learning what moves gain, all of them from one graph.
  // Returns the mean loss (Huber).
  double FitGains(const ValueView& view, absl::Span<const TriedMove> moves,
                  float learning_rate);
  // Makes an update from moves that the policy has chosen: each choice is
  // clipped by itself, and the gain of those before is what it is compared
  // with.
  AssignmentPpoStatistics UpdateMoves(const ValueView& view,
                                      absl::Span<const MoveChoice> choices);

  // Serializes the state of the gradient descent and of the random order of
  // lessons, for resuming.
  std::string SerializeDescent() const;
  // Errors: InvalidArgument.
  absl::Status ParseDescent(absl::string_view bytes);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace hone::learning

#endif  // HONE_LEARNING_ASSIGNMENT_LEARNER_H_
