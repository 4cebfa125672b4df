#include "tuning/resumed_log.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "space/measurement.h"

namespace hone::tuning {
namespace {

int64_t ChoicesOf(const space::Trial& trial) {
  return static_cast<int64_t>(trial.candidate.choices.size());
}

}  // namespace

void ResumedLog::Add(space::Trial trial) {
  choices_ += ChoicesOf(trial);
  kept_.push_back(std::move(trial));
  if (choices_ > max_choices_) Thin();
}

std::vector<space::Trial> ResumedLog::Take() {
  choices_ = 0;
  return std::exchange(kept_, {});
}

void ResumedLog::Thin() {
  if (kept_.size() <= 2) return;
  // Best first between the first and the last, of equal ones the first.
  std::stable_sort(kept_.begin() + 1, kept_.end() - 1,
                   [](const space::Trial& a, const space::Trial& b) {
                     return space::RankOf(a.measurement) <
                            space::RankOf(b.measurement);
                   });
  space::Trial last = std::move(kept_.back());
  kept_.pop_back();
  while (kept_.size() > 1 && choices_ > max_choices_ / 2) {
    choices_ -= ChoicesOf(kept_.back());
    kept_.pop_back();
  }
  kept_.push_back(std::move(last));
  std::sort(
      kept_.begin(), kept_.end(),
      [](const space::Trial& a, const space::Trial& b) { return a.id < b.id; });
}

}  // namespace hone::tuning
