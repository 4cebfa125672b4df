#ifndef HONE_HLO_TILES_TILE_REGIONS_H_
#define HONE_HLO_TILES_TILE_REGIONS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/types/span.h"

#include "hlo/ir/id_map.h"
#include "hlo/tiles/kernel_config.h"
#include "hlo/tiles/operand_regions.h"
#include "hlo/tiles/tiled_kernel.h"

namespace hone::hlo {

// The part of a kernel that computes one tile.
class TileRegions {
 public:
  // An operand of an instruction, and what the instruction needs of it; or a
  // result, and what of it is stored.
  struct Use {
    static constexpr size_t kResult = std::numeric_limits<size_t>::max();
    InstructionId user = kNoInstruction;
    size_t operand = 0;
    Region region;
  };

  // `kernel` outlives this. The tile is in the kernel's space
  // (TileSpace::Check).
  TileRegions(const TiledKernel& kernel, const Tile& tile);

  const TiledKernel& kernel() const { return kernel_; }

  // Returns true if the last tile along a dimension of the grid is smaller than
  // the others.
  bool IsCutOff(size_t dimension) const;

  // The number of tiles along each dimension of the result, then along each
  // that the hero reduces. 0 where a dimension of the result has no elements, 1
  // where one that is reduced has none.
  absl::Span<const int64_t> grid() const { return grid_; }
  // The product; the largest integer if it is more.
  int64_t tile_count() const;

  // Returns what the tile at `position`, an index of the grid, needs of each
  // instruction: the bounding box of all uses. Instructions that no tile needs
  // have an empty box. The tiles at the end of a dimension are cut off there.
  // Results that are not tiled with the primary one (other dimensions, and no
  // tile of the primary result needs all of them) are whole, but for those of
  // side reductions.
  IdMap<Region> At(absl::Span<const int64_t> position) const {
    return Over(position, position);
  }

  // As At, of all tiles from `first` to `last` along each dimension as if they
  // were one. If `uses` is not null, it gets the region of each result and of
  // each operand of each instruction that is needed, in an order that depends
  // on nothing but which ones are.
  IdMap<Region> Over(absl::Span<const int64_t> first,
                     absl::Span<const int64_t> last,
                     std::vector<Use>* uses = nullptr) const;

 private:
  // How a result beside the primary one is tiled: by what the primary one needs
  // of it, as it has the same dimensions, or not at all.
  enum class Tiling { kFollows, kAlike, kWhole };
  struct OtherResult {
    InstructionId id = kNoInstruction;
    Tiling tiling = Tiling::kWhole;
  };

  // The tiles from `first` to `last`.
  struct Range {
    absl::Span<const int64_t> first;
    absl::Span<const int64_t> last;
  };

  Region PrimaryTile(const Range& range) const;
  Box ReducedBox(const Range& range) const;
  // Adds what `regions` of results need. `domain`: the region that the operands
  // of side reductions have.
  IdMap<Region> Propagate(const Range& range, IdMap<Region> regions,
                          const Region* domain, std::vector<Use>* uses) const;
  IdMap<Region> OfPrimary(const Range& range, std::vector<Use>* uses) const;
  void FindOtherResults();

  const TiledKernel& kernel_;
  const Tile tile_;
  std::vector<int64_t> grid_;
  std::vector<OtherResult> others_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_TILES_TILE_REGIONS_H_
