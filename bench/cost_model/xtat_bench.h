#ifndef HONE_BENCH_COST_MODEL_XTAT_BENCH_H_
#define HONE_BENCH_COST_MODEL_XTAT_BENCH_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

#include "bench/cost_model/search_comparison.h"

namespace hone::bench {

struct XtatBenchOptions : SearchComparisonOptions {
  XtatBenchOptions() {
    budgets = {6, 8, 16, 32, 64};
    optimizers.insert(optimizers.begin(), "analytical");
    // The first does not learn from its measurements.
    optimizers.insert(optimizers.end(), {"xtat:refresh=0", "xtat"});
  }

  // Kernels of each program: those that take the most of its time.
  int64_t kernels = 6;
  // Kernels with more tiles are left out: the best is found by trying all.
  int64_t tiles = 4096;
  // A folder for xtat.svg: the speed that each search has reached after each
  // measurement; empty: none.
  std::string plots;
};

// Compares searches for the tile of kernels on a simulated TPU at equal numbers
// of measurements, as the share of the best tile's speed that they reach, on
// programs of families that the cost model was never trained on. Every search
// measures the default tile first. "analytical" is no search: the tiles are
// measured in the order of the analytical model. Prints the table to `out` and
// returns it as JSON. Errors: those of ReadTunedPrograms and of the optimizers.
absl::StatusOr<nlohmann::ordered_json> RunXtatBench(
    const XtatBenchOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_XTAT_BENCH_H_
