#ifndef HONE_HLO_TILES_KERNEL_CONFIG_H_
#define HONE_HLO_TILES_KERNEL_CONFIG_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "hlo/ir/shape.h"

namespace hone::hlo {

// The sizes of a tile: of the dimensions of the kernel's result (TpuGraphs:
// output_bounds) and of the dimensions that its hero reduces (kernel_bounds);
// see TiledKernel. A kernel computes its result tile by tile; the last tile of
// a dimension may be smaller.
struct Tile {
  DimensionVector output;
  DimensionVector reduction;

  friend bool operator==(const Tile&, const Tile&) = default;
};

// The order in which the tiles of the result are visited. The tiles of reduced
// dimensions are always the innermost loops, since results accumulate over
// them.
enum class GridOrder : uint8_t {
  kRow,     // the last dimension is the innermost
  kColumn,  // the first dimension is the innermost
};

inline constexpr int32_t kMaxBuffers = 3;
inline constexpr int32_t kMaxUnroll = 8;

// How a kernel is compiled: its tile and flags of code generation.
struct KernelConfig {
  Tile tile;
  GridOrder order = GridOrder::kRow;
  // The buffers of each operand and result: 1 (transfers wait for the
  // computation) to kMaxBuffers.
  int32_t buffers = 2;
  // The vector registers that an iteration of a loop computes: a power of two
  // up to kMaxUnroll.
  int32_t unroll = 4;

  friend bool operator==(const KernelConfig&, const KernelConfig&) = default;
};

// Returns "output=8,128 reduction=512 order=row buffers=2 unroll=4". Sizes that
// there are none of are left out with their key.
std::string PrintKernelConfig(const KernelConfig& config);

// Reads that text. Keys may come in any order and be missing: flags then have
// their default, sizes are none.
// Errors: InvalidArgument, naming the key, what it has and what was expected.
// Whether the sizes fit a kernel says TileSpace::Check.
absl::StatusOr<KernelConfig> ParseKernelConfig(absl::string_view text);

}  // namespace hone::hlo

#endif  // HONE_HLO_TILES_KERNEL_CONFIG_H_
