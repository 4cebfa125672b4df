#include "tuning/best_parts.h"

#include <cstddef>

namespace hone::tuning {

BestParts::BestParts(const space::SeparableProblem* problem) {
  if (problem == nullptr) return;
  for (size_t i = 0; i < problem->part_count(); ++i) {
    parts_.emplace_back().count =
        static_cast<size_t>(problem->part(i).variable_count());
  }
}

void BestParts::Note(const space::Trial& trial) {
  if (parts_.empty() || trial.measurement.samples.size() != parts_.size()) {
    return;
  }
  auto begin = trial.candidate.choices.begin();
  for (size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    const auto end = begin + static_cast<std::ptrdiff_t>(part.count);
    const double cost = trial.measurement.samples[i];
    // Negative: invalid.
    if (cost >= 0 && (!part.is_known || cost < part.cost)) {
      part.is_known = true;
      part.cost = cost;
      part.choices.assign(begin, end);
    }
    begin = end;
  }
}

std::optional<space::Candidate> BestParts::Compose() const {
  if (parts_.empty()) return std::nullopt;
  space::Candidate all;
  for (const Part& part : parts_) {
    if (!part.is_known) return std::nullopt;
    all.choices.insert(all.choices.end(), part.choices.begin(),
                       part.choices.end());
  }
  return all;
}

}  // namespace hone::tuning
