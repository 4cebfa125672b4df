#include "bench/partition/partition_search.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/status_macros.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"

namespace hone::bench {

namespace {

// The search by an optimizer, under its own name or that of a control.
std::string OptimizerOf(const std::string& search) {
  if (search == "uniform" || search == "estimated") return "policy";
  if (search == "scratch" || search == "sample") return "ppo";
  return search;
}

}  // namespace

absl::Status CheckPartitionSearch(const std::string& search) {
  return optimizers::Optimizers().Find(OptimizerOf(search)).status();
}

absl::StatusOr<PartitionRun> SearchPartition(
    const PartitionSearchOptions& options, tuning::PartitionProblem& problem) {
  optimizers::OptimizerOptions of;
  of.seed = options.seed;
  of.uniform_prior = options.search == "uniform";
  of.estimated_prior = options.search == "estimated";
  of.without_estimate = options.search == "scratch";
  of.whole_draws = options.search == "sample";
  const std::string optimizer_id = OptimizerOf(options.search);
  // `ppo` is from random weights, as if this were the only graph.
  if (optimizer_id != "ppo") of.weights = options.weights;
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<optimizers::Optimizer> optimizer,
                        optimizers::CreateOptimizer(optimizer_id, problem, of));
  // What all searches measure first does not count.
  std::vector<space::Candidate> first;
  for (const space::Seed& seed : problem.Seeds()) {
    if (std::find(first.begin(), first.end(), seed.candidate) == first.end()) {
      first.push_back(seed.candidate);
    }
  }
  const auto known = static_cast<int64_t>(first.size());
  const tuning::PartitionProblem::Repairs before = problem.repairs();
  PartitionRun run;
  double best = std::numeric_limits<double>::infinity();
  int64_t evaluated = 0;
  problem.Watch([&](const space::Measurement& measurement) {
    best = std::min(best, space::EffectiveCost(measurement));
    if (++evaluated >= known && evaluated <= known + options.samples) {
      run.best.push_back(best);
    }
  });
  optimizers::SearchOptions searching;
  searching.batch_size = 1;
  const absl::StatusOr<optimizers::SearchResult> result = optimizers::RunSearch(
      problem, *optimizer,
      {.trials = 100'000'000, .evaluations = known + options.samples},
      SystemClock(), searching);
  problem.Watch(nullptr);
  HONE_RETURN_IF_ERROR(result.status());
  run.best.resize(static_cast<size_t>(options.samples) + 1, best);
  run.seconds = absl::ToDoubleSeconds(result->elapsed);
  const tuning::PartitionProblem::Repairs after = problem.repairs();
  run.repairs = after.moves - before.moves;
  if (run.repairs > 0) {
    run.repaired_share =
        static_cast<double>(after.variables - before.variables) /
        (static_cast<double>(run.repairs) *
         static_cast<double>(problem.graph().size()));
  }
  return run;
}

}  // namespace hone::bench
