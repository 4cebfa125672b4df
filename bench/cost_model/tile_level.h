#ifndef HONE_BENCH_COST_MODEL_TILE_LEVEL_H_
#define HONE_BENCH_COST_MODEL_TILE_LEVEL_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

#include "backends/tpu_sim/tpu.h"
#include "backends/tpu_sim/tpu_module.h"
#include "base/hash.h"
#include "hlo/ir/module.h"
#include "tuning/tasks/tile_problem.h"

namespace hone::bench {

// Returns the least time that an optimizer measures of a kernel's tiles in so
// many trials. Errors: those of the optimizer and of measuring.
absl::StatusOr<double> BestTileNs(const char* optimizer,
                                  const tuning::TileProblem& problem,
                                  int64_t trials);
// Returns the least time of all tiles.
absl::StatusOr<double> BestTileNs(const tuning::TileProblem& problem);

// The time of a program in nanoseconds, by how its kernels' tiles are chosen.
struct TileTimes {
  double by_default = 0;
  double by_xtat = 0;
  double best = 0;  // of all tiles
};

// Chooses the tiles of all kernels of fused programs on a TPU. Kernels that
// equal one seen before are not searched again.
class TileLevel {
 public:
  // A search measures `budget` tiles of a kernel. Of a kernel with more than
  // `tiles`, the best is the better of the search's and the default.
  TileLevel(const backends::Tpu& tpu, int64_t budget, int64_t tiles)
      : tpu_(tpu), budget_(budget), tiles_(tiles) {}

  // Errors: those of backends::PrepareForTpu and of the searches.
  absl::StatusOr<TileTimes> TimesOf(const hlo::Module& fused);

 private:
  // For one execution.
  absl::StatusOr<TileTimes> Search(const backends::TpuKernel& kernel) const;

  const backends::Tpu& tpu_;
  const int64_t budget_;
  const int64_t tiles_;
  absl::flat_hash_map<Hash128, TileTimes> known_;
};

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_TILE_LEVEL_H_
