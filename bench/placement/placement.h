#ifndef HONE_BENCH_PLACEMENT_PLACEMENT_H_
#define HONE_BENCH_PLACEMENT_PLACEMENT_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include <nlohmann/json.hpp>

#include "bench/placement/steps.h"
#include "graphs/contiguity.h"

namespace hone::bench {

struct PlacementBenchOptions {
  // "quality", on the public graphs, and "scale", on synthetic ones; "steps",
  // the step times of models, and "step-scale", what those take as graphs grow.
  std::vector<std::string> tables = {"quality", "scale", "steps", "step-scale"};
  StepTableOptions steps;
  std::string graphs = "bench/data/graphs";
  std::string only;
  graphs::Contiguity contiguity = graphs::Contiguity::kPipeline;
  std::vector<std::string> searches = {
      "random", "greedy", "annealing", "genetic", "ppo", "guided", "policy"};
  // What searches start from: "all" seeds, "inexact" (all but that of the exact
  // program), or "none" (the default alone).
  std::vector<std::string> starts = {"all", "inexact", "none"};
  int32_t seeds = 5;
  // Budgets of a search, one table each; 0 and zero: no such table.
  int64_t evaluations = 5000;
  absl::Duration time;
  // Limit of the exact program in CPU time.
  absl::Duration exact_time = absl::Seconds(120);
  // The sizes of the synthetic graphs.
  std::vector<int64_t> nodes = {10'000, 20'000, 40'000, 80'000};
};

// Makes the tables of the task `placement`: the max loads of seeds and searches
// beside that of the exact program or a lower bound, and what time and memory
// they need as graphs grow. Writes rows to `out` as they finish and returns the
// tables as JSON; "worse_than_a_seed" counts the searches that ended worse than
// one of their seeds.
absl::StatusOr<nlohmann::ordered_json> RunPlacementBench(
    const PlacementBenchOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_PLACEMENT_PLACEMENT_H_
