#ifndef HONE_LOOPS_LOWERING_KERNEL_INDEXING_H_
#define HONE_LOOPS_LOWERING_KERNEL_INDEXING_H_

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

#include "loops/ir/expression.h"

namespace hone::loops {

// The indices of an element, one per dimension. Offsets are s64.
using Indices = absl::InlinedVector<Index, 4>;

// Returns the extent of a variable.
using ExtentFn = absl::FunctionRef<int64_t(VarId)>;

// Returns factor * index + addend.
Index Scaled(const Index& index, int64_t factor, int64_t addend);
Index Sum(const Index& a, const Index& b);
// Returns the value of an index as an s64 expression.
ExpressionPtr AsExpression(const Index& index);

// Returns the row-major number of the element at `indices`.
Index Flatten(absl::Span<const int64_t> dimensions, const Indices& indices);

// A request to split a variable into outer * inner + rest.
struct VarSplit {
  VarId var = 0;
  int64_t inner = 1;
};

// Returns, as affine indices, the element of an array of dimensions `to` that a
// reshape makes of the element at `indices` of dimensions `from`. On failure,
// sets `split` if splitting a variable would help.
std::optional<Indices> Reindex(absl::Span<const int64_t> from,
                               absl::Span<const int64_t> to,
                               const Indices& indices, ExtentFn extent,
                               std::optional<VarSplit>& split);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_KERNEL_INDEXING_H_
