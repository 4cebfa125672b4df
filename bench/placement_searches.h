#ifndef HONE_BENCH_PLACEMENT_SEARCHES_H_
#define HONE_BENCH_PLACEMENT_SEARCHES_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

struct PlacementSearchesOptions {
  // The folder of the graphs and their manifest.json.
  std::string graphs = "bench/data/graphs";
  // A regular expression of the names of the graphs; empty: all.
  std::string only;
  // Optimizers, one column each. "zero-shot" is what a policy makes of the
  // default; "policy-uniform" and "guided-uniform" have no weights.
  std::vector<std::string> searches = {"random", "annealing", "policy-uniform",
                                       "zero-shot", "policy"};
  int64_t trials = 16;
  // Seeds 0 … seeds-1.
  int32_t seeds = 5;
  // The file of the policies' weights. Empty: none come with Hone, so that the
  // policies are uniform.
  std::string weights;
};

// Compares searches for pipelines at equal budgets where all that they know at
// first is the default: max load over that of the exact dynamic program, or of
// the best known method where that gives up. Errors: those of ReadPublicGraphs;
// NotFound for an unknown search; InvalidArgument for weights that do not fit.
absl::StatusOr<nlohmann::ordered_json> RunPlacementSearchesBench(
    const PlacementSearchesOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_PLACEMENT_SEARCHES_H_
