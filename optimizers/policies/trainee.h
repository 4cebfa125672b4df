#ifndef HONE_OPTIMIZERS_POLICIES_TRAINEE_H_
#define HONE_OPTIMIZERS_POLICIES_TRAINEE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "base/rng.h"
#include "optimizers/policies/training.h"

namespace hone::optimizers::policies {

// Calls body(i) for i in [0, n), on several threads. Returns the first error.
using ForEach = std::function<absl::Status(
    size_t n, const std::function<absl::Status(size_t)>& body)>;

// A problem to learn from in a round or an update.
struct Lesson {
  const TrainingProblem* problem = nullptr;
  // What is known of its solution, as Trainee::Teach returns it; an update
  // replaces it by anything better.
  std::vector<int32_t>* best = nullptr;
  Rng rng;
};

// What a round or an update can say of itself.
struct TraineeStatistics {
  double mean_reward = 0;
  double entropy = 0;
  double policy_loss = 0;
  double value_loss = 0;
  double imitation_loss = 0;
  double label_loss = 0;
};

// A policy that is trained: the network, its learner, and how both work with
// problems of their kind. Training (training.cc) is the same for all kinds.
//
// Determinism: all depends on the arguments, the options and the weights, not
// on threads.
class Trainee {
 public:
  virtual ~Trainee() = default;

  // A digest of what weights and solutions refer to by index (spec_digest.h).
  virtual std::string SpecDigest() const = 0;

  virtual std::string SerializeWeights() const = 0;
  virtual std::string SerializeDescent() const = 0;
  // Restores both. Errors: InvalidArgument for bytes that are something else.
  virtual absl::Status Restore(absl::string_view weights,
                               absl::string_view descent) = 0;

  // Finds a solution to imitate, by a search with `options.search_trials`.
  virtual absl::StatusOr<std::vector<int32_t>> Teach(
      const TrainingProblem& problem) const = 0;

  // Makes a round of labels from `lessons`. `fades` falls from nearly 1 to 0
  // over the rounds: the weight of what is only a guide at first.
  virtual absl::Status LabelRound(std::vector<Lesson>& lessons, float fades,
                                  const ForEach& for_each,
                                  TraineeStatistics& statistics) = 0;
  // Makes an update of reinforcement learning from `lessons`.
  virtual absl::Status Update(std::vector<Lesson>& lessons,
                              const ForEach& for_each,
                              TraineeStatistics& statistics) = 0;

  // Returns the cost of the policy's own first solution over the default's.
  virtual absl::StatusOr<double> Validate(
      const TrainingProblem& problem) const = 0;
};

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_TRAINEE_H_
