#ifndef HONE_HLO_TILES_TILE_SPACE_H_
#define HONE_HLO_TILES_TILE_SPACE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"

#include "base/rng.h"
#include "hlo/tiles/kernel_config.h"
#include "hlo/tiles/tiled_kernel.h"

namespace hone::hlo {

inline constexpr int64_t kMaxTileSizes = 64;

// The configurations of a kernel: sizes for each tiled dimension, and the
// flags. Whether a configuration fits the memory of a device is for the device
// to say.
class TileSpace {
 public:
  explicit TileSpace(const TiledKernel& kernel);

  // The candidate sizes of each dimension of the result, then of each that the
  // hero reduces: ascending, at most kMaxTileSizes, the last one the whole
  // dimension. Multiples of the register tile (TileUnit) where the dimension
  // lies along lanes or sublanes of the result (or, reduced, of an operand).
  const std::vector<std::vector<int64_t>>& sizes() const { return sizes_; }

  // Returns an error unless the configuration is legal for the kernel; sizes
  // need not be candidates.
  // Errors: InvalidArgument, which names the dimension and the limit that its
  // tile breaks.
  absl::Status Check(const KernelConfig& config) const;

  // The number of tiles made of candidate sizes; the largest integer if there
  // are more.
  int64_t tile_count() const;
  // Returns number `index` of the tiles, from 0 to tile_count() - 1.
  Tile TileAt(int64_t index) const;
  // Returns a configuration that is drawn evenly from each list of sizes and of
  // flags.
  KernelConfig RandomConfig(Rng& rng) const;

 private:
  struct Dimension {
    int64_t size = 0;
    int64_t unit = 1;
  };

  Tile TileOf(const std::vector<int64_t>& sizes) const;
  absl::Status CheckSizes(absl::string_view what, const DimensionVector& sizes,
                          size_t first, size_t count) const;

  size_t output_rank_ = 0;
  std::vector<Dimension> dimensions_;
  std::vector<std::vector<int64_t>> sizes_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_TILES_TILE_SPACE_H_
