#ifndef HONE_TUNING_TASKS_KERNEL_FEATURES_H_
#define HONE_TUNING_TASKS_KERNEL_FEATURES_H_

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

#include "base/hash.h"
#include "space/observation.h"
#include "space/trial.h"
#include "tuning/tasks/kernel_problem.h"

namespace hone::tuning {

// A schedule as a cost model sees it (costmodels/loop_features.h).
struct KernelFeatures {
  // Candidates with equal keys make equal programs.
  Hash128 program_key;
  std::shared_ptr<const space::Observation> graph;
  std::vector<float> config;
  // What costmodels/loop_roofline.h says, at a nominal speed.
  double roofline_ns = 0;
};

// Makes the features of candidates of one kernel, for predictions of many.
// Remembered by program: different choices often lead to the same one.
// Thread-safe.
class KernelFeatureMaker {
 public:
  // `problem` outlives this.
  explicit KernelFeatureMaker(const KernelProblem& problem)
      : problem_(problem) {}

  // Errors: InvalidArgument for an illegal candidate (KernelProblem::StateOf).
  absl::StatusOr<std::shared_ptr<const KernelFeatures>> Of(
      const space::Candidate& candidate);
  // The same of a state of the problem.
  std::shared_ptr<const KernelFeatures> OfState(const space::StatePtr& state);

 private:
  const KernelProblem& problem_;
  absl::Mutex mu_;
  absl::flat_hash_map<Hash128, std::shared_ptr<const KernelFeatures>> known_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_KERNEL_FEATURES_H_
