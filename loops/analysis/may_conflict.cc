#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/check.h"
#include "loops/analysis/dependences.h"
#include "loops/analysis/integer_system.h"

namespace hone::loops {
namespace {

using LoopList = absl::InlinedVector<const Loop*, 12>;

LoopList LoopsOf(const Program& program, const Path& path) {
  LoopList loops;
  absl::Span<const Node> body = program.body();
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    loops.push_back(body[static_cast<size_t>(path[i])].loop());
    body = loops.back()->body;
  }
  return loops;
}

// Returns how many of `loops` declare the buffer or are above its declaration;
// 0 for the root.
size_t DeclarationDepth(const LoopList& loops, BufferId buffer) {
  for (size_t depth = loops.size(); depth > 0; --depth) {
    const std::vector<BufferId>& locals = loops[depth - 1]->locals;
    if (std::find(locals.begin(), locals.end(), buffer) != locals.end()) {
      return depth;
    }
  }
  return 0;
}

// The iterations of source and target as unknowns of an IntegerSystem.
//
// A loop above both is described by the source's iteration x and by how much
// later the target's is, d; where both accesses move alike, x cancels out,
// which leaves most questions with one or two unknowns. What no row mentions
// does not become an unknown.
class Question {
 public:
  Question(const Program& program, const AccessSite& source,
           const AccessSite& target)
      : program_(program),
        source_(source),
        target_(target),
        source_loops_(LoopsOf(program, source.path)),
        target_loops_(LoopsOf(program, target.path)),
        common_(CommonLoops(source, target)),
        row_(source_loops_.size() + target_loops_.size()),
        unknowns_(row_.size(), -1) {}

  bool MayHold(absl::Span<const Direction> directions) {
    HONE_CHECK(directions.size() == common_);
    return SetDirections(directions) && AddIndices() &&
           AddRanges(Side::kSource) && AddRanges(Side::kTarget) &&
           AddBounds() && system_.IsFeasible().value_or(true);
  }

 private:
  enum class Side : uint8_t { kSource, kTarget };

  const AccessSite& Site(Side side) const {
    return side == Side::kSource ? source_ : target_;
  }

  // The functions that add rows return false when one cannot hold.

  bool SetDirections(absl::Span<const Direction> directions) {
    directions_.assign(directions.begin(), directions.end());
    if (program_.buffer(source_.access.buffer).IsLocal()) {
      const size_t depth =
          DeclarationDepth(source_loops_, source_.access.buffer);
      for (size_t i = 0; i < std::min(depth, common_); ++i) {
        if (directions_[i] == Direction::kAny) {
          directions_[i] = Direction::kSame;
        } else if (directions_[i] != Direction::kSame) {
          return false;
        }
      }
    }
    for (size_t i = 0; i < common_; ++i) {
      const bool differ = directions_[i] == Direction::kEarlier ||
                          directions_[i] == Direction::kLater;
      if (source_loops_[i]->extent < (differ ? 2 : 1)) return false;
    }
    return true;
  }

  // Row: a slot for each of the source's loops (its iteration x), then one for
  // each of the target's (d where the loop is common, else its iteration).
  void AddVar(Side side, VarId var, int64_t coefficient) {
    const bool is_source = side == Side::kSource;
    const LoopList& loops = is_source ? source_loops_ : target_loops_;
    size_t depth = loops.size();
    do {
      HONE_CHECK(depth > 0);
      --depth;
    } while (loops[depth]->var != var);
    if (is_source) {
      row_[depth] += coefficient;
      return;
    }
    if (depth < common_) row_[depth] += coefficient;
    if (depth >= common_ || directions_[depth] != Direction::kSame) {
      row_[source_loops_.size() + depth] += coefficient;
    }
  }

  void AddAffine(Side side, const Affine& affine, int64_t factor) {
    constant_ += factor * affine.constant();
    for (const Affine::Term& term : affine.terms()) {
      AddVar(side, term.var, factor * term.coefficient);
    }
  }

  // The unknown of a slot of the row.
  int32_t UnknownOf(size_t slot) {
    int32_t& unknown = unknowns_[slot];
    if (unknown >= 0) return unknown;
    const size_t sources = source_loops_.size();
    if (slot < sources) {
      const int64_t last = source_loops_[slot]->extent - 1;
      unknown = system_.AddUnknown(0, last);
      if (slot < common_ && directions_[slot] != Direction::kSame) {
        // The target's iteration is one, too.
        const int32_t later = UnknownOf(sources + slot);
        system_.AddAtLeastZero({{unknown, 1}, {later, 1}}, 0);
        system_.AddAtLeastZero({{unknown, -1}, {later, -1}}, last);
      }
      return unknown;
    }
    const size_t depth = slot - sources;
    const int64_t last = target_loops_[depth]->extent - 1;
    if (depth >= common_) return unknown = system_.AddUnknown(0, last);
    const Direction direction = directions_[depth];
    return unknown =
               system_.AddUnknown(direction == Direction::kEarlier ? 1 : -last,
                                  direction == Direction::kLater ? -1 : last);
  }

  // Moves the row into the system: = 0, or ≥ 0.
  bool TakeRow(bool equality) {
    for (size_t slot = 0; slot < row_.size(); ++slot) {
      if (row_[slot] == 0) continue;
      terms_.push_back({UnknownOf(slot), row_[slot]});
      row_[slot] = 0;
    }
    const int64_t constant = std::exchange(constant_, 0);
    if (terms_.empty()) return equality ? constant == 0 : constant >= 0;
    if (equality) {
      system_.AddEquality(terms_, constant);
    } else {
      system_.AddAtLeastZero(terms_, constant);
    }
    terms_.clear();
    return true;
  }

  bool IsFlat(const Access& access) const {
    return access.indices.size() == 1 &&
           program_.buffer(access.buffer).dimensions.size() != 1;
  }

  // Returns true if the element depends on data only.
  bool IsAnywhere(const Access& access) const {
    return IsFlat(access) && access.indices[0].offset != nullptr;
  }

  // Adds the condition that source and target access the same element.
  bool AddIndices() {
    const Access& a = source_.access;
    const Access& b = target_.access;
    if (IsFlat(a) || IsFlat(b)) {
      if (IsAnywhere(a) || IsAnywhere(b)) return true;
      AddElementNumber(Side::kSource, 1);
      AddElementNumber(Side::kTarget, -1);
      return TakeRow(/*equality=*/true);
    }
    for (size_t i = 0; i < a.indices.size(); ++i) {
      if (a.indices[i].offset != nullptr || b.indices[i].offset != nullptr) {
        continue;
      }
      AddAffine(Side::kSource, a.indices[i].affine, 1);
      AddAffine(Side::kTarget, b.indices[i].affine, -1);
      if (!TakeRow(/*equality=*/true)) return false;
    }
    return true;
  }

  // Adds `factor` times the row-major number of the accessed element.
  void AddElementNumber(Side side, int64_t factor) {
    const Access& access = Site(side).access;
    if (IsFlat(access)) {
      return AddAffine(side, access.indices[0].affine, factor);
    }
    const Buffer& buffer = program_.buffer(access.buffer);
    for (size_t i = 0; i < access.indices.size(); ++i) {
      const int64_t stride = factor * buffer.strides[i];
      if (access.indices[i].offset == nullptr) {
        AddAffine(side, access.indices[i].affine, stride);
      } else {
        terms_.push_back(
            {system_.AddUnknown(0, buffer.dimensions[i] - 1), stride});
      }
    }
  }

  bool AddRanges(Side side) {
    for (const Range& range : Site(side).ranges) {
      AddAffine(side, range.value, 1);
      constant_ -= range.lo;
      if (!TakeRow(/*equality=*/false)) return false;
      AddAffine(side, range.value, -1);
      constant_ += range.hi - 1;
      if (!TakeRow(/*equality=*/false)) return false;
    }
    return true;
  }

  bool AddBounds() {
    for (size_t i = 0; i < source_loops_.size(); ++i) {
      if (!AddBound(Side::kSource, *source_loops_[i])) return false;
    }
    for (size_t i = 0; i < target_loops_.size(); ++i) {
      // In equal iterations of common loops it equals the source's bound.
      const bool is_new =
          i >= common_ ||
          std::any_of(directions_.begin(),
                      directions_.begin() + static_cast<ptrdiff_t>(i) + 1,
                      [](Direction d) { return d != Direction::kSame; });
      if (is_new && !AddBound(Side::kTarget, *target_loops_[i])) return false;
    }
    return true;
  }

  // variable ≤ bound - 1
  bool AddBound(Side side, const Loop& loop) {
    if (loop.extent < 1) return false;
    if (!loop.bound.has_value()) return true;
    AddAffine(side, *loop.bound, 1);
    AddVar(side, loop.var, -1);
    constant_ -= 1;
    return TakeRow(/*equality=*/false);
  }

  const Program& program_;
  const AccessSite& source_;
  const AccessSite& target_;
  const LoopList source_loops_;
  const LoopList target_loops_;
  const size_t common_;
  absl::InlinedVector<Direction, 12> directions_;
  // The row under construction: coefficients of slots, terms of unknowns (of
  // those without a slot, at first), constant.
  absl::InlinedVector<int64_t, 24> row_;
  absl::InlinedVector<IntegerSystem::Term, 16> terms_;
  int64_t constant_ = 0;
  // The unknowns of slots, -1 if there is none.
  absl::InlinedVector<int32_t, 24> unknowns_;
  IntegerSystem system_;
};

}  // namespace

bool MayConflict(const Program& program, const AccessSite& source,
                 const AccessSite& target,
                 absl::Span<const Direction> directions) {
  if (source.access.buffer != target.access.buffer) return false;
  return Question(program, source, target).MayHold(directions);
}

}  // namespace hone::loops
