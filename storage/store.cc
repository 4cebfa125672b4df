#include "storage/store.h"

#include <utility>

#include "base/status_macros.h"

namespace hone::storage {

absl::StatusOr<std::vector<space::Trial>> Store::ListTrials(
    absl::string_view tuning_id) {
  std::vector<space::Trial> trials;
  HONE_RETURN_IF_ERROR(ForEachTrial(tuning_id, [&](space::Trial trial) {
    trials.push_back(std::move(trial));
  }));
  return trials;
}

}  // namespace hone::storage
