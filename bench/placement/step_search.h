#ifndef HONE_BENCH_PLACEMENT_STEP_SEARCH_H_
#define HONE_BENCH_PLACEMENT_STEP_SEARCH_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "tuning/tasks/step_problem.h"

namespace hone::bench {

struct StepSearchOptions {
  // An optimizer; "uniform" is `policy` with all moves equally likely,
  // "estimate" with what is known of them without weights.
  std::string search;
  uint64_t seed = 0;
  // The file of the policies' weights; empty: those that come with Hone.
  std::string weights = {};
  // Policies: the most moves that are decided at once.
  int32_t moves_per_try = 1;
  // The budget of the whole run, beyond known methods.
  int64_t simulations = 1000;
};

// The result of one search for a step, or of several, one after the other.
struct StepRun {
  double best_ms = std::numeric_limits<double>::infinity();
  // The best assignment of the problem searched last.
  std::vector<int32_t> best;
  int64_t simulations = 0;  // of the budget, made so far
  // The best time after each power of ten of simulations below the budget, and
  // after the budget.
  std::map<int64_t, double> curve;
  double seconds = 0;
};

// Searches `problem` from its known methods with `simulations` more, and adds
// that to `run`. "hdp" counts its own samples only. Errors: NotFound for an
// unknown search.
absl::Status SearchStep(const StepSearchOptions& options,
                        const tuning::StepProblem& problem, int64_t simulations,
                        StepRun& run);

}  // namespace hone::bench

#endif  // HONE_BENCH_PLACEMENT_STEP_SEARCH_H_
