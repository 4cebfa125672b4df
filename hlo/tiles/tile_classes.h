#ifndef HONE_HLO_TILES_TILE_CLASSES_H_
#define HONE_HLO_TILES_TILE_CLASSES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hlo/tiles/tile_regions.h"

namespace hone::hlo {

// Which tiles of a grid are alike: every instruction has a box of the same
// sizes in them, with as many elements touched, so that they take the same
// work. Tiles differ where an operand of a concatenate ends, padding begins, a
// window reaches over an edge, and where the last tile is cut off.
//
// Each dimension of the grid is cut into runs of positions; a class is one run
// of each dimension. Runs are those of tiles whose other positions are 0, and
// of slabs of tiles with all other positions. So they show what lies in other
// rows only, but not how two uses of one value in different dimensions (a
// matrix and its transpose) lie relative to each other: there the
// representative stands for tiles that are not quite like it.
class TileClasses {
 public:
  struct Run {
    int64_t first = 0;
    int64_t count = 0;
    int64_t last() const { return first + count - 1; }
    friend bool operator==(const Run&, const Run&) = default;
  };
  struct Class {
    // The position of one of its tiles, and the number of tiles (the largest
    // integer if it is more).
    std::vector<int64_t> representative;
    int64_t count = 0;
  };

  // `regions` is used by the constructor only.
  explicit TileClasses(const TileRegions& regions);

  // The runs of a dimension in order; together they cover it. None if the grid
  // is empty.
  const std::vector<Run>& runs(size_t dimension) const {
    return runs_[dimension];
  }
  // The index of the run that a position along a dimension lies in.
  size_t RunOf(size_t dimension, int64_t position) const;

  // The number of classes; the largest integer if it is more.
  int64_t size() const { return size_; }
  // Classes in row-major order of their runs.
  Class At(int64_t index) const;

  // False if a dimension has too many unlike positions to find all of them
  // (interior padding, reshapes that mix dimensions, in long grids): tiles
  // between those that were looked at are then taken to be alike.
  bool is_exact() const { return is_exact_; }

 private:
  std::vector<std::vector<Run>> runs_;
  int64_t size_ = 0;
  bool is_exact_ = true;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_TILES_TILE_CLASSES_H_
