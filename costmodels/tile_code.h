#ifndef HONE_COSTMODELS_TILE_CODE_H_
#define HONE_COSTMODELS_TILE_CODE_H_

#include "costmodels/tile_walk.h"
#include "hlo/tiles/kernel_config.h"
#include "hlo/tiles/tiled_kernel.h"

namespace hone::costmodels {

// The work of code for a kernel's tiles besides arithmetic, as a compiler knows
// it before it generates the code: in registers of 8 × 128 elements and all
// tiles together, unless it says otherwise.
struct TileCode {
  // Elements that fill lanes; values of which other dimensions run along lanes;
  // values that move by less than a register.
  double lane_broadcasts = 0;
  double relayouts = 0;
  double misaligned = 0;
  // Rows at places that indices say.
  double indexed_rows = 0;
  // Values of fewer than 32 bits that loops load or store.
  double unpacked = 0;
  // Registers that are left to be reduced along lanes.
  double partial_lanes = 0;
  // Matrix products: operands whose terms do not run along lanes, by operand;
  // rows that stream through arrays; results of parts of the terms.
  double transposed[2] = {0, 0};
  double streamed_rows = 0;
  double partial_results = 0;
  // Iterations of the loops over registers, and times the longest path of
  // dependent operations through one, in steps of a simple operation.
  double iterations = 0;
  double path_steps = 0;
  // Registers that the loop with the most live values needs at once.
  double live = 0;
};

// `walk` is of the kernel and the configuration.
TileCode TileCodeOf(const hlo::TiledKernel& kernel,
                    const hlo::KernelConfig& config, const TileWalk& walk);

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_TILE_CODE_H_
