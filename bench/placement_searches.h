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
  // The folder of the graphs: all of its *.json.
  std::string graphs = "tests/testdata/graphs";
  // Optimizers, one column each. "zero-shot" is what a policy makes of the
  // default; "policy-uniform" and "guided-uniform" have no weights.
  std::vector<std::string> searches = {"random", "policy-uniform", "zero-shot",
                                       "policy"};
  int64_t trials = 16;
  // Seeds 0 … seeds-1.
  int32_t seeds = 3;
  // Of the policies; empty for those that come with Hone.
  std::string weights;
};

// Compares searches for pipelines at equal budgets where all that they know at
// first is the default: max load over that of the exact dynamic program, or of
// the best known method where that gives up.
absl::StatusOr<nlohmann::ordered_json> RunPlacementSearchesBench(
    const PlacementSearchesOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_PLACEMENT_SEARCHES_H_
