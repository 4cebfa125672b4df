#include "tuning/tasks/module_tiles_problem.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"

namespace hone::tuning {
namespace {

// Adds the measurement of kernel number `i` to that of the module.
void Add(const space::Measurement& own, size_t i, space::Measurement& whole) {
  if (own.outcome == space::Outcome::kOk) {
    whole.samples.push_back(own.cost);
    whole.cost += own.cost;
    return;
  }
  whole.outcome = space::Outcome::kInvalid;
  whole.violation += own.violation;
  whole.samples.push_back(own.violation > 0
                              ? -own.violation
                              : -std::numeric_limits<double>::infinity());
  if (whole.message.empty()) {
    whole.message = absl::StrCat("kernel ", i, ": ", own.message);
  }
}

}  // namespace

ModuleTilesProblem::ModuleTilesProblem(
    std::vector<std::unique_ptr<TileProblem>> kernels)
    : kernels_(std::move(kernels)) {
  int32_t first = 0;
  for (size_t i = 0; i < kernels_.size(); ++i) {
    for (space::VariableGroup group : kernels_[i]->groups()) {
      group.name = absl::StrCat("kernel", i, ".", group.name);
      group.first = first++;
      groups_.push_back(std::move(group));
    }
  }
}

space::Candidate ModuleTilesProblem::DefaultCandidate() const {
  space::Candidate all;
  for (const std::unique_ptr<TileProblem>& kernel : kernels_) {
    const space::Candidate own = kernel->DefaultCandidate();
    all.choices.insert(all.choices.end(), own.choices.begin(),
                       own.choices.end());
  }
  return all;
}

absl::StatusOr<std::vector<space::Measurement>>
ModuleTilesProblem::MeasureBatch(
    absl::Span<const space::Candidate> candidates) const {
  std::vector<space::Measurement> measurements(candidates.size());
  // A candidate with too few or too many values is invalid in its last part.
  std::vector<space::Candidate> own(candidates.size());
  size_t first = 0;
  for (size_t i = 0; i < kernels_.size(); ++i) {
    const auto count = static_cast<size_t>(kernels_[i]->variable_count());
    const bool is_last = i + 1 == kernels_.size();
    for (size_t c = 0; c < candidates.size(); ++c) {
      const std::vector<int32_t>& choices = candidates[c].choices;
      const size_t begin = std::min(first, choices.size());
      const size_t end =
          is_last ? choices.size() : std::min(first + count, choices.size());
      own[c].choices.assign(
          choices.begin() + static_cast<std::ptrdiff_t>(begin),
          choices.begin() + static_cast<std::ptrdiff_t>(end));
    }
    HONE_ASSIGN_OR_RETURN(const std::vector<space::Measurement> results,
                          kernels_[i]->MeasureBatch(own));
    for (size_t c = 0; c < candidates.size(); ++c) {
      Add(results[c], i, measurements[c]);
    }
    first += count;
  }
  return measurements;
}

}  // namespace hone::tuning
