#include "storage/trial_log.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

#include "space/measurement.h"

namespace hone::storage {

absl::StatusOr<absl::Span<const space::Trial>> ExtendTrialLog(
    absl::Span<const space::Trial> trials, Tuning& tuning) {
  if (trials.empty()) return trials;
  int64_t expected = std::clamp<int64_t>(trials.front().id, 0, tuning.trials);
  for (const space::Trial& trial : trials) {
    if (trial.id != expected) {
      return absl::FailedPreconditionError(
          absl::StrCat("trial ", trial.id, " of tuning '", tuning.id,
                       "', expected trial ", expected));
    }
    ++expected;
  }
  const int64_t stored = tuning.trials - trials.front().id;
  trials.remove_prefix(std::min(
      trials.size(), static_cast<size_t>(std::max<int64_t>(stored, 0))));
  for (const space::Trial& trial : trials) {
    ++tuning.trials;
    const double cost = space::EffectiveCost(trial.measurement);
    if (std::isinf(cost)) continue;
    if (trial.id == 0) tuning.default_cost = cost;
    tuning.best_cost = std::min(tuning.best_cost.value_or(cost), cost);
  }
  return trials;
}

}  // namespace hone::storage
