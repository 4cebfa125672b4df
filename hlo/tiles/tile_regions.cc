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

Interval TileInterval(int64_t tile, int64_t position, int64_t size) {
  const int64_t start = std::min(SaturatingMultiply(tile, position), size);
  return {start, std::min(tile, size - start)};
}

}  // namespace

TileRegions::TileRegions(const TiledKernel& kernel, const Tile& tile)
    : kernel_(kernel), tile_(tile) {
  const auto add = [this](absl::Span<const int64_t> dimensions,
                          const DimensionVector& sizes) {
    for (size_t d = 0; d < dimensions.size(); ++d) {
      grid_.push_back(CeilDivide(dimensions[d], sizes[d]));
    }
  };
  add(kernel.output_dimensions(), tile_.output);
  add(kernel.reduction_dimensions(), tile_.reduction);
  FindOtherResults();
}

int64_t TileRegions::tile_count() const {
  int64_t count = 1;
  for (const int64_t tiles : grid_) count = SaturatingMultiply(count, tiles);
  return std::find(grid_.begin(), grid_.end(), 0) != grid_.end() ? 0 : count;
}

Box TileRegions::ReducedBox(absl::Span<const int64_t> position) const {
  const size_t outputs = tile_.output.size();
  Box box;
  for (size_t d = 0; d < tile_.reduction.size(); ++d) {
    box.push_back(TileInterval(tile_.reduction[d], position[outputs + d],
                               kernel_.reduction_dimensions()[d]));
  }
  return box;
}

Region TileRegions::PrimaryTile(absl::Span<const int64_t> position) const {
  Region tile;
  for (size_t d = 0; d < tile_.output.size(); ++d) {
    tile.box.push_back(TileInterval(tile_.output[d], position[d],
                                    kernel_.output_dimensions()[d]));
  }
  tile.touched = Volume(tile.box);
  return tile;
}

IdMap<Region> TileRegions::Propagate(absl::Span<const int64_t> position,
                                     IdMap<Region> regions,
                                     const Region* domain) const {
  const Computation& computation = kernel_.computation();
  const Box reduced = ReducedBox(position);
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
      Merge(is_domain ? *domain : operands[i], regions[instruction.operand(i)]);
    }
  }
  return regions;
}

IdMap<Region> TileRegions::OfPrimary(absl::Span<const int64_t> position) const {
  IdMap<Region> regions;
  if (kernel_.primary() == kNoInstruction) return regions;
  regions[kernel_.primary()] = PrimaryTile(position);
  return Propagate(position, std::move(regions), /*domain=*/nullptr);
}

IdMap<Region> TileRegions::At(absl::Span<const int64_t> position) const {
  IdMap<Region> primary = OfPrimary(position);
  if (others_.empty()) return primary;
  const Region domain = primary.at(kernel_.domain());
  IdMap<Region> regions;
  regions[kernel_.primary()] = PrimaryTile(position);
  for (const OtherResult& other : others_) {
    switch (other.tiling) {
      case Tiling::kFollows:
        // The primary result may need it after the hero only.
        Merge(primary.at(other.id), regions[other.id]);
        break;
      case Tiling::kAlike:
        Merge(PrimaryTile(position), regions[other.id]);
        break;
      case Tiling::kWhole:
        Merge(WholeRegion(kernel_.computation()[other.id]), regions[other.id]);
        break;
    }
  }
  return Propagate(position, std::move(regions), &domain);
}

void TileRegions::FindOtherResults() {
  if (kernel_.results().size() < 2) return;
  std::vector<int64_t> last;
  for (const int64_t tiles : grid_) {
    last.push_back(std::max<int64_t>(tiles - 1, 0));
  }
  const IdMap<Region> at_first = OfPrimary(std::vector<int64_t>(grid_.size()));
  const IdMap<Region> at_last = OfPrimary(last);
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
