#ifndef HONE_LOOPS_TRANSFORMS_ANALYSIS_FOOTPRINT_H_
#define HONE_LOOPS_TRANSFORMS_ANALYSIS_FOOTPRINT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "loops/analysis/dependences.h"
#include "loops/analysis/interval.h"
#include "loops/ir/program.h"

namespace hone::loops {

// The part of a buffer that the iterations of inner loops touch.

// Returns the range of `value`, whose variables all belong to `loops`, by the
// extents and bounds of `loops`. Never too narrow.
Interval RangeOf(const Affine& value, absl::Span<const Loop* const> loops);

// Returns true if `loop` runs at least one iteration each time it is reached.
// `loops` are the loops above it.
bool RunsAtLeastOnce(const Loop& loop, absl::Span<const Loop* const> loops);

// The contribution of one loop to an index.
struct Digit {
  const Loop* loop = nullptr;
  int64_t coefficient = 0;
};

// An index split into the part that is fixed outside the loops `below`, and the
// contributions of these loops, outermost first.
struct SeenIndex {
  Affine fixed;
  std::vector<Digit> digits;
};
SeenIndex SeenFrom(const Affine& index, absl::Span<const Loop* const> below);

// The form of the indices of an access.
enum class IndexForm : uint8_t { kDimensions, kFlat };

// Returns kFlat if any of the accesses is flat.
IndexForm IndexFormOf(const Program& program,
                      absl::Span<const AccessSite> sites);
// Returns the dimensions that indices of `form` refer to.
hlo::DimensionVector DimensionsOf(const Buffer& buffer, IndexForm form);
// Returns the indices of an access in `form`; nullopt if one depends on data.
std::optional<std::vector<Affine>> IndicesOf(const Program& program,
                                             const Access& access,
                                             IndexForm form);

// Returns the buffers that are accessed at or below `path`, ascending.
std::vector<BufferId> BuffersIn(const Program& program, const Path& path);
// Returns the accesses of `buffer` at or below `path`.
std::vector<AccessSite> SitesOf(const Program& program, const Path& path,
                                BufferId buffer);
// Returns the loops between the loop at `path` and a site below it, outermost
// first.
std::vector<const Loop*> LoopsBetween(const Program& program, const Path& path,
                                      const AccessSite& site);

// The smallest box that contains all elements that accesses below a loop touch
// in one iteration of it.
struct Box {
  IndexForm form = IndexForm::kDimensions;
  // For each dimension, the first index, in variables of the loop and of the
  // loops above it, and the number of indices.
  std::vector<Affine> base;
  hlo::DimensionVector extents;
  // The distance of one index from the next; 1 unless LeaveGapsOut raises it.
  hlo::DimensionVector steps;

  // The extents other than 1.
  hlo::DimensionVector CompactExtents() const;
  // Returns the access to a local with CompactExtents() that corresponds to
  // `indices` of the buffer.
  Access Localize(BufferId local, absl::Span<const Affine> indices) const;
};

// Returns the box of `sites`, which must all access one buffer below the loop
// at `path`. If `clip`, ignores elements out of the buffer's bounds. Returns
// InvalidArgument if an index depends on data, or if the box differs in size or
// place between sites.
absl::StatusOr<Box> BoxOf(const Program& program, const Path& path,
                          absl::Span<const AccessSite> sites, bool clip);

// Leaves indices out of `box`, that of `sites`, in each dimension of which
// sites touch only every n-th.
void LeaveGapsOut(const Program& program, const Path& path,
                  absl::Span<const AccessSite> sites, Box& box);

// Returns true if two sites below the loop at `path` touch the same elements in
// each of its iterations, inside loops of equal extents and bounds.
bool TouchSame(const Program& program, const Path& path, const AccessSite& a,
               const AccessSite& b);

// Returns true if distinct iterations access distinct elements, over those of
// the loops `below` that the indices use (conservative).
bool TouchesEachOnce(const Program& program, const AccessSite& site,
                     absl::Span<const Loop* const> below);

// Builds a nest of copies of the loops below `path` that the indices of `site`
// depend on, around the statement that `leaf` makes of the access. Parallel
// loops become sequential. Returns InvalidArgument if a bound depends on
// another loop below `path`.
absl::StatusOr<Node> SweepOf(Program& program, const Path& path,
                             const AccessSite& site,
                             absl::FunctionRef<Statement(const Access&)> leaf);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_ANALYSIS_FOOTPRINT_H_
