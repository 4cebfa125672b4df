#include "loops/transforms/analysis/coverage.h"

#include <algorithm>
#include <vector>

#include "loops/transforms/analysis/footprint.h"
#include "loops/transforms/locals.h"

namespace hone::loops {
namespace {

bool HasPredicate(const Program& program, const AccessSite& site) {
  return program.At(site.path).statement()->predicate != nullptr;
}

// Returns true if the index of a plain write takes every value from fixed to
// fixed + *reach, clipped to the buffer's dimension.
bool IsContiguous(const SeenIndex& index, const Affine& whole,
                  int64_t dimension, absl::Span<const Loop* const> loops,
                  int64_t* reach) {
  std::vector<Digit> digits = index.digits;
  std::sort(digits.begin(), digits.end(), [](const Digit& a, const Digit& b) {
    return a.coefficient < b.coefficient;
  });
  *reach = 0;
  for (const Digit& digit : digits) {
    if (digit.coefficient < 1 || digit.coefficient > *reach + 1) return false;
    *reach += digit.coefficient * (digit.loop->extent - 1);
    const std::optional<Affine>& bound = digit.loop->bound;
    // A bound must cut off only what is out of bounds anyway.
    if (bound.has_value() &&
        RangeOf(whole.Substitute(digit.loop->var, *bound), loops).lo <
            dimension) {
      return false;
    }
  }
  return true;
}

// The range of a read's index minus `fixed`, limited by the kWhere ranges
// around it and the buffer's dimension.
Interval ReadRange(const Affine& index, const Affine& fixed, int64_t dimension,
                   const std::vector<Range>& ranges,
                   absl::Span<const Loop* const> loops) {
  Interval interval = RangeOf(index - fixed, loops);
  if (!fixed.IsConstant()) return interval;
  const int64_t origin = fixed.constant();
  interval.lo = std::max(interval.lo, -origin);
  interval.hi = std::min(interval.hi, dimension - 1 - origin);
  for (const Range& range : ranges) {
    const Affine difference = index - range.value;
    if (!difference.IsConstant()) continue;
    const int64_t shift = difference.constant() - origin;
    interval.lo = std::max(interval.lo, range.lo + shift);
    interval.hi = std::min(interval.hi, range.hi - 1 + shift);
  }
  return interval;
}

}  // namespace

bool Covers(const Program& program, const AccessSite& write,
            const AccessSite& read) {
  if (!write.is_write || write.combine.has_value() ||
      HasPredicate(program, write)) {
    return false;
  }
  const size_t common = CommonLength(write.path, read.path);
  if (common == write.path.size() || common == read.path.size() ||
      write.path[common] > read.path[common]) {
    return false;
  }
  const Path above = Prefix(write.path, common);
  const std::vector<const Loop*> write_loops = program.LoopsAbove(write.path);
  const std::vector<const Loop*> read_loops = program.LoopsAbove(read.path);
  const absl::Span<const Loop* const> below =
      absl::MakeSpan(write_loops).subspan(common);

  const AccessSite sites[] = {write, read};
  const IndexForm form = IndexFormOf(program, sites);
  const auto indices = IndicesOf(program, write.access, form);
  if (!indices.has_value()) return false;
  // Each loop of the write moves one index, or none and runs.
  for (size_t i = 0; i < below.size(); ++i) {
    const int64_t uses = std::count_if(
        indices->begin(), indices->end(),
        [&](const Affine& index) { return index.Uses(below[i]->var); });
    if (uses > 1) return false;
    if (uses == 0 &&
        !RunsAtLeastOnce(*below[i],
                         absl::MakeSpan(write_loops).subspan(0, common + i))) {
      return false;
    }
  }
  if (TouchSame(program, above, read, write)) return true;

  const hlo::DimensionVector dimensions =
      DimensionsOf(program.buffer(write.access.buffer), form);
  for (size_t d = 0; d < indices->size(); ++d) {
    const Affine& index = (*indices)[d];
    const SeenIndex seen = SeenFrom(index, below);
    int64_t reach = 0;
    if (!IsContiguous(seen, index, dimensions[d], write_loops, &reach)) {
      return false;
    }
    // The whole dimension covers a place that depends on data, too.
    if (seen.fixed == Affine(0) && reach >= dimensions[d] - 1) continue;
    const auto read_indices = IndicesOf(program, read.access, form);
    if (!read_indices.has_value()) return false;
    const Interval range = ReadRange((*read_indices)[d], seen.fixed,
                                     dimensions[d], read.ranges, read_loops);
    if (range.lo < 0 || range.hi > reach) return false;
  }
  return true;
}

bool IsCovered(const Program& program, const Path& path,
               const AccessSite& read) {
  const std::vector<AccessSite> sites =
      SitesOf(program, path, read.access.buffer);
  return std::any_of(sites.begin(), sites.end(), [&](const AccessSite& site) {
    return Covers(program, site, read);
  });
}

bool IsUnconditional(const Program& program, const Path& path,
                     const AccessSite& site) {
  if (HasPredicate(program, site) || !site.ranges.empty()) return false;
  const std::vector<const Loop*> loops = program.LoopsAbove(site.path);
  for (size_t i = path.size(); i < loops.size(); ++i) {
    const bool is_used = std::any_of(
        site.access.indices.begin(), site.access.indices.end(),
        [&](const Index& index) { return index.affine.Uses(loops[i]->var); });
    if (!is_used &&
        !RunsAtLeastOnce(*loops[i], absl::MakeSpan(loops).subspan(0, i))) {
      return false;
    }
  }
  return true;
}

}  // namespace hone::loops
