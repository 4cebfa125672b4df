#include "tuning/tasks/kernel_features.h"

#include <utility>

#include "base/status_macros.h"
#include "costmodels/loop_features.h"

namespace hone::tuning {
namespace {

// The most programs whose features are remembered: some tens of megabytes.
constexpr size_t kRemembered = 4096;

}  // namespace

absl::StatusOr<std::shared_ptr<const KernelFeatures>> KernelFeatureMaker::Of(
    const space::Candidate& candidate) {
  HONE_ASSIGN_OR_RETURN(const space::StatePtr state,
                        problem_.StateOf(candidate));
  return OfState(state);
}

std::shared_ptr<const KernelFeatures> KernelFeatureMaker::OfState(
    const space::StatePtr& state) {
  const KernelProblem::Schedule schedule = KernelProblem::ScheduleAt(state);
  {
    absl::MutexLock lock(&mu_);
    const auto it = known_.find(schedule.program_key);
    if (it != known_.end()) return it->second;
  }
  costmodels::LoopFeatures made =
      costmodels::LoopFeaturesOf(schedule.program, problem_.machine());
  auto features = std::make_shared<KernelFeatures>();
  features->program_key = schedule.program_key;
  features->graph =
      std::make_shared<const space::Observation>(std::move(made.graph));
  features->config = std::move(made.kernel);
  features->roofline_ns = made.roofline_ns;
  absl::MutexLock lock(&mu_);
  if (known_.size() >= kRemembered) known_.clear();
  return known_.try_emplace(schedule.program_key, std::move(features))
      .first->second;
}

}  // namespace hone::tuning
