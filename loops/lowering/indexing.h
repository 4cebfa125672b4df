#ifndef HONE_LOOPS_LOWERING_INDEXING_H_
#define HONE_LOOPS_LOWERING_INDEXING_H_

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

#include "loops/expression.h"

namespace hone::loops {

// The place of an element: an index for each dimension. Offsets are s64.
using Indices = absl::InlinedVector<Index, 4>;

// How many values a variable goes through.
using ExtentFn = absl::FunctionRef<int64_t(VarId)>;

// factor * index + addend.
Index Scaled(const Index& index, int64_t factor, int64_t addend);
Index Sum(const Index& a, const Index& b);
// The value of an index as an integer of type s64.
ExpressionPtr AsExpression(const Index& index);

// The row-major number of the element at `indices`.
Index Flatten(absl::Span<const int64_t> dimensions, const Indices& indices);

// A wish to have a variable as outer * inner + rest: what it takes to take
// its values apart.
struct VarSplit {
  VarId var = 0;
  int64_t inner = 1;
};

// The element of an array of dimensions `to` that a reshape makes of the
// element at `indices` of dimensions `from`, as affine indices. Where these
// would exist if a variable were split, `split` says so; where it is not for
// variables to do, it stays empty.
std::optional<Indices> Reindex(absl::Span<const int64_t> from,
                               absl::Span<const int64_t> to,
                               const Indices& indices, ExtentFn extent,
                               std::optional<VarSplit>& split);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_INDEXING_H_
