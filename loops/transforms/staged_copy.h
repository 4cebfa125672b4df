#ifndef HONE_LOOPS_TRANSFORMS_STAGED_COPY_H_
#define HONE_LOOPS_TRANSFORMS_STAGED_COPY_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "loops/dependences.h"
#include "loops/program.h"
#include "loops/transforms/footprint.h"

namespace hone::loops {

// Which elements of a buffer a local copy has, and where: dimension k of the
// local with index e_k holds the element whose index in each dimension d is
//   base_d + Σ coefficient_k · e_k   over the k with dimension_k = d.
struct CopyLayout {
  struct Dimension {
    size_t dimension = 0;
    int64_t coefficient = 1;
    // Which of those of one dimension and coefficient.
    size_t ordinal = 0;
    int64_t extent = 1;
  };
  IndexForm form = IndexForm::kDimensions;
  std::vector<Affine> base;
  std::vector<Dimension> dimensions;
};

// A dimension for each one of the buffer in which more than one element is
// used below the scope at `path`.
// Errors: InvalidArgument where sites differ in what outer scopes contribute or
// an index depends on data.
absl::StatusOr<CopyLayout> LayoutByDimension(const Program& program,
                                             const Path& path,
                                             absl::Span<const AccessSite> sites,
                                             bool clip);

// A dimension for each scope below the one at `path` that moves an index,
// outermost first: what inner loops read then lies in the order in which they
// read it. An element may get several places.
// Errors: as LayoutByDimension.
absl::StatusOr<CopyLayout> LayoutByLoop(const Program& program,
                                        const Path& path,
                                        absl::Span<const AccessSite> sites);

// `node`, which is below the scopes `outer`, with accesses of `local`, a copy
// of that layout, for those of `buffer`; the layout was made for all of them.
Node UseCopy(const Program& program, const Node& node, BufferId buffer,
             BufferId local, const CopyLayout& layout,
             absl::Span<const Scope* const> outer);

// Declares a local of that layout in the scope at `path`. Puts a nest before
// the scope's children that copies `buffer` to it, with `fill` for what is out
// of bounds. Its number.
BufferId AddCopy(Program& program, const Path& path, BufferId buffer,
                 const CopyLayout& layout, const ExpressionPtr& fill);

// The scopes at and above `path`.
std::vector<const Scope*> ScopesAt(const Program& program, const Path& path);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_STAGED_COPY_H_
