#ifndef HONE_HLO_EVALUATOR_KERNELS_STRIDED_COPY_H_
#define HONE_HLO_EVALUATOR_KERNELS_STRIDED_COPY_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "hlo/evaluator/context.h"
#include "hlo/ir/shape.h"

namespace hone::hlo::evaluator {

// Elements to step for one step in each dimension of a dense row-major array.
DimensionVector RowMajorStrides(absl::Span<const int64_t> dimensions);

// A box of elements in memory: `data` is the first, `strides` (in elements, may
// be 0 or negative) lead to the others.
struct StridedSource {
  const std::byte* data;
  DimensionVector strides;
};
struct StridedTarget {
  std::byte* data;
  DimensionVector strides;
};

// Copies a box of `dimensions` elements of `width` bytes each from `source` to
// `target`, which must not overlap. All data movement is made of it.
// Errors: as Context::ParallelFor.
absl::Status StridedCopy(Context& context, int64_t width,
                         absl::Span<const int64_t> dimensions,
                         const StridedSource& source,
                         const StridedTarget& target);

// Writes `element` (`width` bytes) `n` times.
absl::Status Fill(Context& context, int64_t width, const std::byte* element,
                  std::byte* target, int64_t n);

}  // namespace hone::hlo::evaluator

#endif  // HONE_HLO_EVALUATOR_KERNELS_STRIDED_COPY_H_
