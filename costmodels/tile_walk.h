#ifndef HONE_COSTMODELS_TILE_WALK_H_
#define HONE_COSTMODELS_TILE_WALK_H_

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "hlo/ir/id_map.h"
#include "hlo/tiles/kernel_config.h"
#include "hlo/tiles/operand_regions.h"
#include "hlo/tiles/tile_regions.h"
#include "hlo/tiles/tiled_kernel.h"

namespace hone::costmodels {

// The regions of some tiles of a grid, each found once: what looks at a
// configuration asks for the same few tiles, and finding their regions is most
// of its time.
class TileWalk {
 public:
  // `kernel` outlives this.
  TileWalk(const hlo::TiledKernel& kernel, const hlo::Tile& tile)
      : tiles_(kernel, tile) {}

  const hlo::TileRegions& tiles() const { return tiles_; }

  // TileRegions::At. The result stays where it is.
  const hlo::IdMap<hlo::Region>& At(const std::vector<int64_t>& position) {
    for (const auto& [known, regions] : known_) {
      if (known == position) return regions;
    }
    return known_.emplace_back(position, tiles_.At(position)).second;
  }

 private:
  const hlo::TileRegions tiles_;
  std::deque<std::pair<std::vector<int64_t>, hlo::IdMap<hlo::Region>>> known_;
};

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_TILE_WALK_H_
