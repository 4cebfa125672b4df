#ifndef HONE_COSTMODELS_TILE_WALK_H_
#define HONE_COSTMODELS_TILE_WALK_H_

#include <cstddef>
#include <vector>

#include "hlo/ir/id_map.h"
#include "hlo/tiles/kernel_config.h"
#include "hlo/tiles/operand_regions.h"
#include "hlo/tiles/tile_regions.h"
#include "hlo/tiles/tiled_kernel.h"

namespace hone::costmodels {

// The tiles of a grid as cost models look at them: those that are alike once,
// with their number, and how often an array changes on the way through all.
// All that look at a configuration share one, since finding regions is most of
// its time.
class TileWalk {
 public:
  // Tiles that are alike (hlo::TileClasses).
  struct Class {
    // The regions that one of them needs.
    hlo::IdMap<hlo::Region> regions;
    double tiles = 0;
  };

  // `kernel` outlives this; `config` is in its space.
  TileWalk(const hlo::TiledKernel& kernel, const hlo::KernelConfig& config);

  const hlo::TileRegions& tiles() const { return tiles_; }
  // The number of all tiles, and of those along the dimensions that the hero
  // reduces. No tiles: 0 and 1.
  double tile_count() const { return tile_count_; }
  double reduction_tiles() const { return reduction_tiles_; }

  // The most common class first. Of grids with many classes the most common
  // ones stand for the others, too, so that their tiles add up to all.
  const std::vector<Class>& classes() const { return classes_; }

  // How often the tiles of a class do what an instruction says: what follows a
  // reduction is done after the last one of it.
  double Runs(const Class& tiles, hlo::InstructionId id) const {
    return kernel_.IsEpilogue(id) ? tiles.tiles / reduction_tiles_
                                  : tiles.tiles;
  }

  // How often what a tile needs of an array is another part than for the tile
  // before: once for each step of the loops that move it, and of those around
  // them; 1 if it stays.
  double Changes(hlo::InstructionId id) const;

  // The copies of an array between HBM and VMEM.
  struct Copies {
    double count = 0;
    // True if only the touched elements are copied, false if the whole box is.
    bool is_touched_only = false;
  };
  // Returns those of all tiles, if all are as those of a class: one for each
  // change. Elements at places that indices say are copied for each tile,
  // unless their array is the same for all and takes at most a quarter of
  // `vmem_bytes`.
  Copies CopiesOf(const Class& tiles, hlo::InstructionId id,
                  double vmem_bytes) const;

 private:
  void FindClasses();
  void FindChanges(hlo::GridOrder order);

  const hlo::TiledKernel& kernel_;
  const hlo::TileRegions tiles_;
  double tile_count_ = 0;
  double reduction_tiles_ = 1;
  std::vector<Class> classes_;
  // The regions that all tiles need, and for each loop, from the outermost one,
  // what those in its first step need, and where tiles differ those in its last
  // one, which may need nothing; with the steps of it and of those around it.
  struct Loop {
    std::vector<hlo::IdMap<hlo::Region>> ends;
    double steps = 1;
  };
  hlo::IdMap<hlo::Region> all_;
  std::vector<Loop> loops_;
};

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_TILE_WALK_H_
