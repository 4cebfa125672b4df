#include "costmodels/tile_walk.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "base/division.h"
#include "base/saturating.h"
#include "hlo/tiles/register_layout.h"
#include "hlo/tiles/tile_classes.h"

namespace hone::costmodels {
namespace {

// Classes that are counted, and those of them whose tiles are looked at.
constexpr int64_t kMaxCounted = 512;
constexpr size_t kMaxClasses = 16;
// Arrays that indices pick from stay in VMEM if they take at most this share of
// it.
constexpr double kResidentShare = 0.25;

}  // namespace

TileWalk::TileWalk(const hlo::TiledKernel& kernel,
                   const hlo::KernelConfig& config)
    : kernel_(kernel), tiles_(kernel, config.tile) {
  if (tiles_.tile_count() == 0) return;
  tile_count_ = static_cast<double>(tiles_.tile_count());
  const size_t outputs = kernel.output_dimensions().size();
  for (size_t d = outputs; d < tiles_.grid().size(); ++d) {
    reduction_tiles_ *= static_cast<double>(tiles_.grid()[d]);
  }
  FindClasses();
  FindChanges(config.order);
}

void TileWalk::FindClasses() {
  const hlo::TileClasses classes(tiles_);
  std::vector<hlo::TileClasses::Class> found;
  const int64_t stride = CeilDivide(classes.size(), kMaxCounted);
  for (int64_t i = 0; i < classes.size(); i = SaturatingAdd(i, stride)) {
    found.push_back(classes.At(i));
  }
  std::stable_sort(
      found.begin(), found.end(),
      [](const auto& a, const auto& b) { return a.count > b.count; });
  if (found.size() > kMaxClasses) found.resize(kMaxClasses);
  const double counted = std::accumulate(
      found.begin(), found.end(), 0.0, [](double sum, const auto& tiles) {
        return sum + static_cast<double>(tiles.count);
      });
  for (const hlo::TileClasses::Class& tiles : found) {
    classes_.push_back(
        {tiles_.At(tiles.representative),
         static_cast<double>(tiles.count) / counted * tile_count_});
  }
}

void TileWalk::FindChanges(hlo::GridOrder order) {
  const auto grid = tiles_.grid();
  const size_t outputs = kernel_.output_dimensions().size();
  std::vector<int64_t> first(grid.size());
  std::vector<int64_t> last(grid.begin(), grid.end());
  for (int64_t& position : last) --position;
  double steps = 1;
  for (size_t i = 0; i < grid.size(); ++i) {
    const bool reverses = i < outputs && order == hlo::GridOrder::kColumn;
    const size_t d = reverses ? outputs - 1 - i : i;
    if (grid[d] < 2) continue;
    steps *= static_cast<double>(grid[d]);
    Loop& loop = loops_.emplace_back();
    loop.steps = steps;
    std::vector<int64_t> end = last;
    end[d] = 0;
    loop.ends.push_back(tiles_.Over(first, end));
    if (classes_.size() == 1) continue;
    std::vector<int64_t> begin = first;
    begin[d] = last[d];
    loop.ends.push_back(tiles_.Over(begin, last));
  }
  if (!loops_.empty()) all_ = tiles_.Over(first, last);
}

double TileWalk::Changes(hlo::InstructionId id) const {
  const hlo::Region& all = all_.at(id);
  for (size_t i = loops_.size(); i-- > 0;) {
    for (const hlo::IdMap<hlo::Region>& end : loops_[i].ends) {
      if (!hlo::HaveSameElements(end.at(id), all)) return loops_[i].steps;
    }
  }
  return 1;
}

TileWalk::Copies TileWalk::CopiesOf(const Class& tiles, hlo::InstructionId id,
                                    double vmem_bytes) const {
  const hlo::Region& region = tiles.regions.at(id);
  const hlo::Shape* const shape = hlo::TiledShape(kernel_.computation()[id]);
  const double changes = Changes(id);
  // What is not needed has no box.
  if (shape == nullptr || region.touched == 0 ||
      region.touched >= hlo::Volume(region.box)) {
    return {changes};
  }
  const auto bytes = static_cast<double>(hlo::PaddedBytes(*shape, region.box));
  if (changes == 1 && bytes <= kResidentShare * vmem_bytes) return {1};
  return {tile_count_, true};
}

}  // namespace hone::costmodels
