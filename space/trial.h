#ifndef HONE_SPACE_TRIAL_H_
#define HONE_SPACE_TRIAL_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/time/time.h"

#include "space/measurement.h"

namespace hone::space {

// A decision in the problem's own numbering: the actions from the initial state
// of a sequential problem, in order, or one value per variable of an assignment
// problem.
struct Candidate {
  std::vector<int32_t> choices;
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// A candidate and its measurement. `id` counts from 0 within a tuning.
struct Trial {
  int64_t id = 0;
  Candidate candidate;
  Measurement measurement;
};

// The limits of a search. Reaching any of them ends it.
struct Budget {
  int64_t trials = 0;
  // The problem's own unit of work (Problem::evaluations), which counts what
  // every method does, trials or not.
  int64_t evaluations = std::numeric_limits<int64_t>::max();
  absl::Duration time = absl::InfiniteDuration();
};

}  // namespace hone::space

#endif  // HONE_SPACE_TRIAL_H_
