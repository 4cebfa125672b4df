#include "hlo/tiles/tile_classes.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/saturating.h"

namespace hone::hlo {
namespace {

// Positions of one dimension whose regions are looked at, and ranges.
constexpr int kMaxWalks = 256;

using Use = TileRegions::Use;

bool IsAlike(const Region& a, const Region& b) {
  return a.touched == b.touched &&
         std::equal(a.box.begin(), a.box.end(), b.box.begin(), b.box.end(),
                    [](const Interval& x, const Interval& y) {
                      return x.size == y.size;
                    });
}

bool AreAlike(const std::vector<Use>& a, const std::vector<Use>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Use& x, const Use& y) {
                      return x.user == y.user && x.operand == y.operand &&
                             IsAlike(x.region, y.region);
                    });
}

// Returns true if the boxes of tiles can be of other sizes than those of their
// neighbors but where the last one is cut off.
bool MayDiffer(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kBitcast:
    case Opcode::kConcatenate:
    case Opcode::kPad:
    case Opcode::kReduceWindow:
    case Opcode::kReshape:
    case Opcode::kSelectAndScatter:
      return true;
    case Opcode::kConvolution: {
      const Attributes& attributes = instruction.attributes();
      return (attributes.window != nullptr && !attributes.window->empty()) ||
             (attributes.convolution != nullptr &&
              (attributes.convolution->feature_group_count != 1 ||
               attributes.convolution->batch_group_count != 1));
    }
    default:
      return false;
  }
}

// Returns true if some tiles need other elements of a value for one use than
// for another: the box that contains both grows as they move apart.
bool HasUnlikeUses(const TileRegions& regions) {
  const TiledKernel& kernel = regions.kernel();
  IdMap<int> uses_of;
  bool has_several = false;
  for (const InstructionId id : kernel.instructions()) {
    for (const InstructionId operand : kernel.computation()[id].operands()) {
      has_several = has_several || ++uses_of[operand] > 1;
    }
  }
  for (const InstructionId id : kernel.results()) {
    has_several = has_several || uses_of[id] > 0;
  }
  if (!has_several) return false;
  // Boxes move linearly with each position.
  std::vector<int64_t> position(regions.grid().size());
  for (size_t d = 0; d <= position.size(); ++d) {
    if (d < position.size()) {
      if (regions.grid()[d] < 2) continue;
      position[d] = 1;
    }
    std::vector<Use> uses;
    const IdMap<Region> all = regions.Over(position, position, &uses);
    for (const Use& use : uses) {
      if (use.region.touched == 0) continue;
      const InstructionId used =
          use.operand == Use::kResult
              ? use.user
              : kernel.computation()[use.user].operand(use.operand);
      if (use.region.box != all.at(used).box) return true;
    }
    if (d < position.size()) position[d] = 0;
  }
  return false;
}

// Finds the positions of a dimension whose tiles are not like the ones before.
//
// Whether all positions of a range are alike shows at its ends, the second
// position and the range as one tile. What an instruction needs of an operand
// begins at a stepwise linear function of the position, cut off at both ends of
// the operand. So if sizes are the same at the ends, the beginning grows from
// the first to the last position as from the first to the second, and the range
// needs nothing but what lies between the ends, then nothing differs in it;
// else it is halved. All uses are compared, and the box that contains those of
// a value, which hides some of them.
class BoundaryFinder {
 public:
  // Of the other dimensions positions 0, or all positions as one tile.
  BoundaryFinder(const TileRegions& regions, size_t dimension, bool all,
                 std::set<int64_t>& boundaries)
      : regions_(regions),
        dimension_(dimension),
        boundaries_(boundaries),
        first_(regions.grid().size()),
        last_(regions.grid().size()) {
    if (!all) return;
    for (size_t d = 0; d < last_.size(); ++d) last_[d] = regions.grid()[d] - 1;
  }

  // Returns false if there are too many.
  bool Find() {
    const int64_t end = regions_.grid()[dimension_] - 1;
    if (end < 1) return true;
    // First and last tiles differ most often.
    const int64_t second = 1;
    const int64_t before_last = std::max(second, end - 1);
    return Split(0, second) && Split(second, before_last) &&
           Split(before_last, end);
  }

 private:
  std::vector<Use> Walk(int64_t from, int64_t to) {
    ++walks_;
    first_[dimension_] = from;
    last_[dimension_] = to;
    std::vector<Use> uses;
    const IdMap<Region> all = regions_.Over(first_, last_, &uses);
    for (const InstructionId id : regions_.kernel().instructions()) {
      uses.push_back({id, Use::kResult, all.at(id)});
    }
    return uses;
  }

  const std::vector<Use>& At(int64_t position) {
    const auto known = at_.find(position);
    if (known != at_.end()) return known->second;
    return at_.emplace(position, Walk(position, position)).first->second;
  }

  bool Split(int64_t a, int64_t b) {
    if (a >= b) return true;
    if (b - a == 1) {
      if (!AreAlike(At(a), At(b))) boundaries_.insert(b);
      return true;
    }
    if (IsUniform(a, b)) return true;
    if (walks_ >= kMaxWalks) {
      if (!AreAlike(At(a), At(b))) boundaries_.insert(b);
      return false;
    }
    const int64_t middle = a + (b - a) / 2;
    const bool left = Split(a, middle);
    return Split(middle, b) && left;
  }

  bool IsUniform(int64_t a, int64_t b) {
    const std::vector<Use>& begin = At(a);
    const std::vector<Use>& next = At(a + 1);
    const std::vector<Use>& end = At(b);
    if (!AreAlike(begin, next) || !AreAlike(begin, end)) return false;
    const std::vector<Use> whole = Walk(a, b);
    if (whole.size() != begin.size()) return false;
    for (size_t i = 0; i < whole.size(); ++i) {
      const Region& w = whole[i].region;
      const Region& p = begin[i].region;
      const Region& r = end[i].region;
      if (whole[i].user != begin[i].user ||
          whole[i].operand != begin[i].operand ||
          (w.touched == 0) != (p.touched == 0)) {
        return false;
      }
      if (w.touched == 0) continue;
      if (w.box != BoundingBox(p.box, r.box)) return false;
      for (size_t d = 0; d < w.box.size(); ++d) {
        const __int128 step =
            __int128{next[i].region.box[d].start} - __int128{p.box[d].start};
        if (p.box[d].start + step * (b - a) != r.box[d].start) return false;
      }
    }
    return true;
  }

  const TileRegions& regions_;
  const size_t dimension_;
  std::set<int64_t>& boundaries_;
  std::vector<int64_t> first_;
  std::vector<int64_t> last_;
  int walks_ = 0;
  std::unordered_map<int64_t, std::vector<Use>> at_;
};

}  // namespace

TileClasses::TileClasses(const TileRegions& regions) {
  const size_t rank = regions.grid().size();
  runs_.resize(rank);
  if (regions.tile_count() == 0) return;
  const TiledKernel& kernel = regions.kernel();
  const bool may_differ =
      std::any_of(kernel.instructions().begin(), kernel.instructions().end(),
                  [&kernel](InstructionId id) {
                    return MayDiffer(kernel.computation()[id]);
                  }) ||
      HasUnlikeUses(regions);
  size_ = 1;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t count = regions.grid()[d];
    std::set<int64_t> boundaries;
    if (may_differ) {
      for (const bool all : {false, true}) {
        if (!BoundaryFinder(regions, d, all, boundaries).Find()) {
          is_exact_ = false;
        }
        if (rank == 1) break;
      }
    } else if (count > 1 && regions.IsCutOff(d)) {
      boundaries.insert(count - 1);
    }
    int64_t first = 0;
    for (const int64_t boundary : boundaries) {
      runs_[d].push_back({first, boundary - first});
      first = boundary;
    }
    runs_[d].push_back({first, count - first});
    size_ = SaturatingMultiply(size_, static_cast<int64_t>(runs_[d].size()));
  }
}

size_t TileClasses::RunOf(size_t dimension, int64_t position) const {
  const std::vector<Run>& runs = runs_[dimension];
  const auto after = std::upper_bound(
      runs.begin(), runs.end(), position,
      [](int64_t value, const Run& run) { return value < run.first; });
  return static_cast<size_t>(after - runs.begin()) - 1;
}

TileClasses::Class TileClasses::At(int64_t index) const {
  Class result;
  result.count = 1;
  result.representative.resize(runs_.size());
  for (size_t d = runs_.size(); d-- > 0;) {
    const auto count = static_cast<int64_t>(runs_[d].size());
    const Run& run = runs_[d][static_cast<size_t>(index % count)];
    index /= count;
    result.representative[d] = run.first + run.count / 2;
    result.count = SaturatingMultiply(result.count, run.count);
  }
  return result;
}

}  // namespace hone::hlo
