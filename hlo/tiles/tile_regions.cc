#include "hlo/tiles/tile_regions.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/division.h"
#include "base/saturating.h"

namespace hone::hlo {
namespace {

// Adds to what is needed of an instruction. What nothing was needed of has a
// region without a box, which a scalar's cannot be told from but by `touched`.
void Merge(const Region& added, Region& region) {
  if (added.touched == 0) {
    if (region.touched == 0) region.box = added.box;
    return;
  }
  if (region.touched == 0) {
    region = added;
    return;
  }
  region.box = BoundingBox(region.box, added.box);
  region.touched = std::min(Volume(region.box),
                            SaturatingAdd(region.touched, added.touched));
}

// The elements of the tiles first … last along a dimension.
Interval TileInterval(int64_t tile, int64_t first, int64_t last, int64_t size) {
  const int64_t start = std::min(SaturatingMultiply(tile, first), size);
  const int64_t end = std::min(SaturatingMultiply(tile, last), size);
  return {start, end - start + std::min(tile, size - end)};
}

}  // namespace

TileRegions::TileRegions(const TiledKernel& kernel, const Tile& tile)
    : kernel_(kernel), tile_(tile) {
  for (size_t d = 0; d < tile_.output.size(); ++d) {
    grid_.push_back(CeilDivide(kernel.output_dimensions()[d], tile_.output[d]));
  }
  // Where there is nothing to reduce, the initial value is still stored.
  for (size_t d = 0; d < tile_.reduction.size(); ++d) {
    grid_.push_back(std::max<int64_t>(
        CeilDivide(kernel.reduction_dimensions()[d], tile_.reduction[d]), 1));
  }
  FindOtherResults();
}

bool TileRegions::IsCutOff(size_t dimension) const {
  const size_t outputs = tile_.output.size();
  return dimension < outputs
             ? kernel_.output_dimensions()[dimension] %
                       tile_.output[dimension] !=
                   0
             : kernel_.reduction_dimensions()[dimension - outputs] %
                       tile_.reduction[dimension - outputs] !=
                   0;
}

int64_t TileRegions::tile_count() const {
  int64_t count = 1;
  for (const int64_t tiles : grid_) count = SaturatingMultiply(count, tiles);
  return std::find(grid_.begin(), grid_.end(), 0) != grid_.end() ? 0 : count;
}

Box TileRegions::ReducedBox(const Range& range) const {
  const size_t outputs = tile_.output.size();
  Box box;
  for (size_t d = 0; d < tile_.reduction.size(); ++d) {
    box.push_back(TileInterval(tile_.reduction[d], range.first[outputs + d],
                               range.last[outputs + d],
                               kernel_.reduction_dimensions()[d]));
  }
  return box;
}

Region TileRegions::PrimaryTile(const Range& range) const {
  Region tile;
  for (size_t d = 0; d < tile_.output.size(); ++d) {
    tile.box.push_back(TileInterval(tile_.output[d], range.first[d],
                                    range.last[d],
                                    kernel_.output_dimensions()[d]));
  }
  tile.touched = Volume(tile.box);
  return tile;
}

IdMap<Region> TileRegions::Propagate(const Range& range, IdMap<Region> regions,
                                     const Region* domain,
                                     std::vector<Use>* uses) const {
  const Computation& computation = kernel_.computation();
  const Box reduced = ReducedBox(range);
  const std::vector<InstructionId>& order = kernel_.instructions();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Instruction& instruction = computation[*it];
    const Region region = regions.at(*it);
    if (region.touched == 0) continue;
    const std::vector<Region> operands =
        OperandRegions(computation, instruction, region,
                       kernel_.IsReducedByTiles(*it) ? &reduced : nullptr);
    for (size_t i = 0; i < operands.size(); ++i) {
      const bool is_domain = domain != nullptr &&
                             kernel_.IsSideReduction(*it) &&
                             i < operands.size() / 2;
      const Region& needed = is_domain ? *domain : operands[i];
      Merge(needed, regions[instruction.operand(i)]);
      if (uses != nullptr) uses->push_back({*it, i, needed});
    }
  }
  return regions;
}

IdMap<Region> TileRegions::OfPrimary(const Range& range,
                                     std::vector<Use>* uses) const {
  IdMap<Region> regions;
  if (kernel_.primary() == kNoInstruction) return regions;
  regions[kernel_.primary()] = PrimaryTile(range);
  if (uses != nullptr) {
    uses->push_back({kernel_.primary(), Use::kResult, PrimaryTile(range)});
  }
  return Propagate(range, std::move(regions), /*domain=*/nullptr, uses);
}

IdMap<Region> TileRegions::Over(absl::Span<const int64_t> first,
                                absl::Span<const int64_t> last,
                                std::vector<Use>* uses) const {
  const Range range = {first, last};
  IdMap<Region> primary = OfPrimary(range, uses);
  if (others_.empty()) return primary;
  const Region domain = primary.at(kernel_.domain());
  IdMap<Region> regions;
  regions[kernel_.primary()] = PrimaryTile(range);
  for (const OtherResult& other : others_) {
    Region stored;
    switch (other.tiling) {
      case Tiling::kFollows:
        // The primary result may need it after the hero only.
        stored = primary.at(other.id);
        break;
      case Tiling::kAlike:
        stored = PrimaryTile(range);
        break;
      case Tiling::kWhole:
        stored = WholeRegion(kernel_.computation()[other.id]);
        break;
    }
    Merge(stored, regions[other.id]);
    if (uses != nullptr) {
      uses->push_back({other.id, Use::kResult, std::move(stored)});
    }
  }
  return Propagate(range, std::move(regions), &domain, uses);
}

void TileRegions::FindOtherResults() {
  if (kernel_.results().size() < 2) return;
  std::vector<int64_t> last;
  for (const int64_t tiles : grid_) {
    last.push_back(std::max<int64_t>(tiles - 1, 0));
  }
  const std::vector<int64_t> first(grid_.size());
  const IdMap<Region> at_first = OfPrimary({first, first}, nullptr);
  const IdMap<Region> at_last = OfPrimary({last, last}, nullptr);
  const Shape* const primary =
      TiledShape(kernel_.computation()[kernel_.primary()]);
  for (const InstructionId id : kernel_.results()) {
    if (id == kernel_.primary()) continue;
    const Instruction& result = kernel_.computation()[id];
    const Shape* const shape = TiledShape(result);
    OtherResult other = {id, Tiling::kWhole};
    const Region whole = WholeRegion(result);
    // Regions move with the tile, so that those of the first and the last tile
    // show whether all of them cover the result.
    const Region covered_first = at_first.at(id);
    const Region covered_last = at_last.at(id);
    if (covered_first.touched > 0 && covered_last.touched > 0 &&
        BoundingBox(covered_first.box, covered_last.box) == whole.box) {
      other.tiling = Tiling::kFollows;
    } else if (shape != nullptr && primary != nullptr &&
               shape->dimensions() == primary->dimensions()) {
      other.tiling = Tiling::kAlike;
    }
    others_.push_back(other);
  }
}

}  // namespace hone::hlo
