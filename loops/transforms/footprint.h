#ifndef HONE_LOOPS_TRANSFORMS_FOOTPRINT_H_
#define HONE_LOOPS_TRANSFORMS_FOOTPRINT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "loops/dependences.h"
#include "loops/interval.h"
#include "loops/program.h"

namespace hone::loops {

// Which part of a buffer the iterations below some scope touch.

// The values that `value` takes as `scopes` run, which have all its variables:
// from their extents and bounds; never too narrow.
Interval RangeOf(const Affine& value, absl::Span<const Scope* const> scopes);

// Whether a scope has an iteration each time it is reached; `scopes` are those
// above it.
bool RunsAtLeastOnce(const Scope& scope, absl::Span<const Scope* const> scopes);

// A variable's part of an index.
struct Digit {
  const Scope* scope = nullptr;
  int64_t coefficient = 0;
};

// An index as seen from above the scopes `below`: what is fixed there, and the
// parts of those scopes, outermost first.
struct SeenIndex {
  Affine fixed;
  std::vector<Digit> digits;
};
SeenIndex SeenFrom(const Affine& index, absl::Span<const Scope* const> below);

// How the accesses of a buffer are written.
enum class IndexForm : uint8_t { kDimensions, kFlat };

// kFlat where any of the accesses is.
IndexForm FormOf(const Program& program, absl::Span<const AccessSite> sites);
// The dimensions that indices of that form have.
hlo::DimensionVector DimensionsOf(const Buffer& buffer, IndexForm form);
// The indices of an access in that form; nullopt where one depends on data.
std::optional<std::vector<Affine>> IndicesOf(const Program& program,
                                             const Access& access,
                                             IndexForm form);

// The buffers that are accessed at or below `path`, ascending.
std::vector<BufferId> BuffersIn(const Program& program, const Path& path);
// The sites at or below `path` that access `buffer`.
std::vector<AccessSite> SitesOf(const Program& program, const Path& path,
                                BufferId buffer);
// The scopes between the scope at `path` and a site below it, outermost first.
std::vector<const Scope*> ScopesBetween(const Program& program,
                                        const Path& path,
                                        const AccessSite& site);

// The smallest box that holds what accesses below a scope touch in one
// iteration of it.
struct Box {
  IndexForm form = IndexForm::kDimensions;
  // For each dimension: the first index, in variables of the scope and those
  // above it, and how many there are.
  std::vector<Affine> base;
  hlo::DimensionVector extents;

  // The extents but those that are 1.
  hlo::DimensionVector CompactExtents() const;
  // Indices of the buffer as those of a local with CompactExtents().
  Access Localize(BufferId local, absl::Span<const Affine> indices) const;
};

// The box of `sites`, which all access one buffer below the scope at `path`.
// Where `clip`, what is out of the buffer's bounds does not count.
// Errors: InvalidArgument where an index depends on data or the box has another
// size or place for different sites.
absl::StatusOr<Box> BoxOf(const Program& program, const Path& path,
                          absl::Span<const AccessSite> sites, bool clip);

// Whether two sites below the scope at `path` touch the same elements in each
// of its iterations, each under scopes of the same extents and bounds.
bool TouchSame(const Program& program, const Path& path, const AccessSite& a,
               const AccessSite& b);

// Whether an access touches other elements in different iterations of those of
// the scopes `below` that its indices use. May be false where it is so.
bool TouchesEachOnce(const Program& program, const AccessSite& site,
                     absl::Span<const Scope* const> below);

// The scopes below the one at `path` on which the indices of `site` depend, as
// a nest of their own, around the statement that `leaf` makes of the access.
// Parallel ones become sequential.
// Errors: InvalidArgument where a bound depends on other scopes than those.
absl::StatusOr<Node> SweepOf(Program& program, const Path& path,
                             const AccessSite& site,
                             absl::FunctionRef<Statement(const Access&)> leaf);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_FOOTPRINT_H_
