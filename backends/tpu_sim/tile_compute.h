#ifndef HONE_BACKENDS_TPU_SIM_TILE_COMPUTE_H_
#define HONE_BACKENDS_TPU_SIM_TILE_COMPUTE_H_

#include <cstdint>
#include <vector>

#include "backends/tpu_sim/unit_work.h"
#include "hlo/ir/id_map.h"
#include "hlo/tiles/operand_regions.h"
#include "hlo/tiles/tiled_kernel.h"

namespace hone::backends {

// The work of the core for one tile whose data is in VMEM.
struct TileCompute {
  // In this order, for each tile, and behind them for the last tile of a
  // reduction.
  std::vector<Segment> segments;
  std::vector<Segment> epilogue;
  // The bytes of VMEM that values take between segments, accumulators included.
  int64_t intermediate_bytes = 0;
};

// Compiles the part of a kernel in `regions` as a compiler would: instructions
// of equal dimensions that run register by register become one loop, unrolled
// `unroll` times, with values in registers, as far as there are enough; others
// a segment each. `accumulates`: the reduction has several tiles, so that
// results of the hero are added up in VMEM.
TileCompute CompileTile(const hlo::TiledKernel& kernel,
                        const hlo::IdMap<hlo::Region>& regions, int32_t unroll,
                        bool accumulates, const Tpu& tpu);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_TPU_SIM_TILE_COMPUTE_H_
