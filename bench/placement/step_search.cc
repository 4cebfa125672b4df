#include "bench/placement/step_search.h"

#include <algorithm>
#include <memory>

#include "base/clock.h"
#include "base/status_macros.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"

namespace hone::bench {
namespace {

// The number of known methods that a search measures: each distinct one once.
int64_t CountSeeds(const tuning::StepProblem& problem) {
  std::vector<space::Candidate> distinct;
  for (const space::Seed& seed : problem.Seeds()) {
    if (std::find(distinct.begin(), distinct.end(), seed.candidate) ==
        distinct.end()) {
      distinct.push_back(seed.candidate);
    }
  }
  return static_cast<int64_t>(distinct.size());
}

}  // namespace

absl::Status SearchStep(const StepSearchOptions& options,
                        const tuning::StepProblem& problem, int64_t simulations,
                        StepRun& run) {
  const bool is_uniform = options.search == "uniform";
  const bool is_estimate = options.search == "estimate";
  optimizers::OptimizerOptions of;
  of.seed = options.seed;
  // `ppo` from random weights, as if this were the only graph.
  of.weights = options.search == "ppo" ? "" : options.weights;
  of.uniform_prior = is_uniform;
  of.estimated_prior = is_estimate;
  of.moves_per_try = options.moves_per_try;
  HONE_ASSIGN_OR_RETURN(
      const std::unique_ptr<optimizers::Optimizer> optimizer,
      optimizers::CreateOptimizer(
          is_uniform || is_estimate ? "policy" : options.search, problem, of));
  const int64_t known = CountSeeds(problem);
  const bool from_scratch = options.search == "hdp";
  const int64_t before = problem.evaluations();
  // Of this search, which may begin behind an earlier one.
  run.best = problem.DefaultCandidate().choices;
  double best = std::numeric_limits<double>::infinity();
  optimizers::SearchOptions searching;
  searching.on_trial = [&](const space::Trial& trial) {
    const int64_t made = problem.evaluations() - before - known;
    const bool counts = !from_scratch || made > 0;
    if (counts && trial.measurement.outcome == space::Outcome::kOk &&
        trial.measurement.cost < best) {
      best = trial.measurement.cost;
      run.best = trial.candidate.choices;
      run.best_ms = std::min(run.best_ms, best);
    }
    for (int64_t power = 1; power < options.simulations; power *= 10) {
      if (run.simulations + made <= power) run.curve[power] = run.best_ms;
    }
    return absl::OkStatus();
  };
  HONE_ASSIGN_OR_RETURN(
      const optimizers::SearchResult result,
      optimizers::RunSearch(
          problem, *optimizer,
          {.trials = 1'000'000, .evaluations = known + simulations},
          SystemClock(), searching));
  run.simulations += simulations;
  run.curve[options.simulations] = run.best_ms;
  run.seconds += absl::ToDoubleSeconds(result.elapsed);
  return absl::OkStatus();
}

}  // namespace hone::bench
