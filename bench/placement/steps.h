#ifndef HONE_BENCH_PLACEMENT_STEPS_H_
#define HONE_BENCH_PLACEMENT_STEPS_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

#include "tuning/tasks/step_space.h"

namespace hone::bench {

struct StepTableOptions {
  // The folder of the training steps and their manifest.json.
  std::string models = "bench/data/placement";
  // A regular expression of their names; empty: all.
  std::string only;
  // The bundled cluster to place on; empty: as many V100 as the manifest says.
  std::string cluster;
  tuning::StepDecisions decisions = {.devices = true};
  // Optimizers, one column each. "uniform" and "estimate" are `policy`
  // without weights (step_search.h).
  std::vector<std::string> searches = {"annealing", "genetic", "hdp",
                                       "ppo",       "uniform", "estimate",
                                       "zero_shot", "policy",  "finetune"};
  // Adds two columns for each search, in which it tunes placement, schedule and
  // fusion one after the other, in the orders of in_turn.h, with the same
  // budget.
  bool in_turn = false;
  // Seeds 0 … seeds-1.
  int32_t seeds = 5;
  // The budget of each search, beyond the known methods that all begin with.
  int64_t simulations = 1000;
  // The file of the policies' weights; empty: those that come with Hone.
  std::string weights;
  // Policies: the most moves that are decided at once.
  int32_t moves_per_try = 1;
};

// Compares searches for the step time of training steps on their clusters, at
// equal numbers of simulations: the time of each known
// method, the mean and spread of each search, and a lower bound. "hdp" shows
// the best of its own samples, as published; all other searches are never worse
// than the known methods. A second table has what searches reach after 1, 10,
// 100, … simulations, as shares of the best known method. "default" is the
// compiler's step: layers, the default fusion, the order of the program.
// Errors: NotFound without a manifest, or for an unknown search;
// InvalidArgument for a broken manifest or expression, or if nothing matches.
absl::StatusOr<nlohmann::ordered_json> MeasureSteps(
    const StepTableOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_PLACEMENT_STEPS_H_
