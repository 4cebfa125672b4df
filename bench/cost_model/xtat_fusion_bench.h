#ifndef HONE_BENCH_COST_MODEL_XTAT_FUSION_BENCH_H_
#define HONE_BENCH_COST_MODEL_XTAT_FUSION_BENCH_H_

#include <cstdint>
#include <ostream>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

#include "bench/cost_model/search_comparison.h"

namespace hone::bench {

// `budgets` are of programs measured.
struct XtatFusionBenchOptions : SearchComparisonOptions {
  XtatFusionBenchOptions() {
    budgets = {8, 16, 32, 64};
    optimizers.insert(optimizers.end(),
                      {"xtat:top_k=10:refresh=0", "xtat:top_k=10"});
  }

  // Programs with more decisions (of fusion and of layout) are left out.
  int64_t decisions = 1500;
  // Measurements of each kernel's tiles, for the best decision of the last
  // search; 0: none, fusion alone.
  int64_t tile_budget = 16;
  // Kernels with more tiles are not tried in full: they count with the best
  // that the search finds.
  int64_t tiles = 4096;
};

// Compares searches for the fusion of programs on a simulated TPU at equal
// numbers of measured programs, as the share of the default's time that is
// left, on programs of families that the cost model was never trained on; then
// what the tiles of the kernels make of the default and of the best fusion.
// Every search measures the seeds first (TpuFusionProblem::Seeds). Searches
// without a model measure whole programs, as on hardware: no kernel's time is
// known by itself. A candidate that breaks a rule, or that was measured before,
// is no measurement. Prints the tables to `out` and returns them as JSON.
// Errors: those of ReadTunedPrograms and of the optimizers.
absl::StatusOr<nlohmann::ordered_json> RunXtatFusionBench(
    const XtatFusionBenchOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_XTAT_FUSION_BENCH_H_
