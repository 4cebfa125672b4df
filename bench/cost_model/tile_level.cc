#include "bench/cost_model/tile_level.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "base/clock.h"
#include "base/status_macros.h"
#include "hlo/analysis/fingerprint.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tuning/tasks/tpu_tile_problem.h"

namespace hone::bench {

absl::StatusOr<double> BestTileNs(const char* optimizer,
                                  const tuning::TileProblem& problem,
                                  int64_t trials) {
  HONE_ASSIGN_OR_RETURN(const auto search,
                        optimizers::CreateOptimizer(optimizer, problem, {}));
  HONE_ASSIGN_OR_RETURN(
      const optimizers::SearchResult result,
      optimizers::RunSearch(problem, *search, {.trials = trials},
                            SystemClock()));
  return result.best->measurement.cost;
}

absl::StatusOr<double> BestTileNs(const tuning::TileProblem& problem) {
  return BestTileNs("exhaustive", problem, std::numeric_limits<int64_t>::max());
}

absl::StatusOr<TileTimes> TileLevel::TimesOf(const hlo::Module& fused) {
  HONE_ASSIGN_OR_RETURN(const backends::TpuModule module,
                        backends::PrepareForTpu(fused, tpu_));
  TileTimes sum;
  for (const backends::TpuKernel& kernel : module.kernels) {
    const Hash128 hash = hlo::FastFingerprint(*kernel.module);
    auto known = known_.find(hash);
    if (known == known_.end()) {
      HONE_ASSIGN_OR_RETURN(const TileTimes times, Search(kernel));
      known = known_.emplace(hash, times).first;
    }
    sum.by_default += kernel.executions * known->second.by_default;
    sum.by_xtat += kernel.executions * known->second.by_xtat;
    sum.best += kernel.executions * known->second.best;
  }
  return sum;
}

absl::StatusOr<TileTimes> TileLevel::Search(
    const backends::TpuKernel& kernel) const {
  TileTimes times;
  times.by_default = backends::DefaultNs(*kernel.module, tpu_);
  backends::TpuKernel once = kernel;
  once.executions = 1;
  const std::unique_ptr<tuning::TileProblem> problem =
      tuning::MakeTpuTileProblem(once, tpu_, /*with_flags=*/false);
  HONE_ASSIGN_OR_RETURN(times.by_xtat, BestTileNs("xtat", *problem, budget_));
  times.best = std::min(times.by_default, times.by_xtat);
  if (hlo::TileSpace(problem->tiled()).tile_count() <= tiles_) {
    HONE_ASSIGN_OR_RETURN(times.best, BestTileNs(*problem));
  }
  return times;
}

}  // namespace hone::bench
