#ifndef HONE_LOOPS_TRANSFORMS_MEMORY_STAGED_COPY_H_
#define HONE_LOOPS_TRANSFORMS_MEMORY_STAGED_COPY_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "loops/analysis/dependences.h"
#include "loops/ir/program.h"
#include "loops/transforms/analysis/footprint.h"

namespace hone::loops {

// The layout of a local copy of a part of a buffer: the element of the local
// with indices e_k holds the element of the buffer whose index in dimension d
// is
//   base_d + Σ coefficient_k · e_k   over the k with dimension_k = d.
struct CopyLayout {
  struct Dimension {
    size_t dimension = 0;
    int64_t coefficient = 1;
    // Distinguishes entries of equal dimension and coefficient.
    size_t ordinal = 0;
    int64_t extent = 1;
  };
  IndexForm form = IndexForm::kDimensions;
  std::vector<Affine> base;
  std::vector<Dimension> dimensions;
};

// Returns the layout with one dimension for each dimension of the buffer in
// which more than one element is used below the loop at `path`. Returns
// InvalidArgument if the contributions of outer loops differ between sites, or
// if an index depends on data.
absl::StatusOr<CopyLayout> LayoutByDimension(const Program& program,
                                             const Path& path,
                                             absl::Span<const AccessSite> sites,
                                             bool clip);

// Returns the layout with one dimension for each loop below `path` that an
// index depends on, outermost first, so that inner loops read the copy
// sequentially. An element may occur several times. Errors: as
// LayoutByDimension.
absl::StatusOr<CopyLayout> LayoutByLoop(const Program& program,
                                        const Path& path,
                                        absl::Span<const AccessSite> sites);

// Returns `node`, which is below the loops `outer`, with those of its accesses
// of a buffer that read the copy replaced by accesses of `local`, the copy with
// this layout. The layout must have been made for all of them.
Node UseCopy(const Program& program, const Node& node,
             absl::FunctionRef<bool(const Access&)> reads_copy, BufferId local,
             const CopyLayout& layout, absl::Span<const Loop* const> outer);

// Inserts a nest before the node at `next` that copies `buffer` to a local of
// this layout, with `fill` for elements out of bounds. The local is declared in
// the loop around the nest, and returned.
BufferId AddCopy(Program& program, const Path& next, BufferId buffer,
                 const CopyLayout& layout, const ExpressionPtr& fill);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_MEMORY_STAGED_COPY_H_
