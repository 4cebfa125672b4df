#include <algorithm>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "hlo/evaluator/kernels.h"
#include "hlo/evaluator/kernels/indexing.h"
#include "hlo/evaluator/kernels/strided_copy.h"
#include "hlo/evaluator/kernels/window.h"
#include "hlo/evaluator/types.h"

namespace hone::hlo::evaluator {

// Every index vector names a slice of the operand, clamped to lie inside; the
// slices are laid along the result's offset dimensions. A collapsed slice may
// be empty, and the operand with it; the result is then zeros, as XLA has it.
absl::StatusOr<Literal> EvaluateGather(Context& context,
                                       const Operation& operation) {
  const GatherDimensions& d = *operation.attributes().gather;
  const Literal& operand = operation.operands[0];
  const int64_t width = ByteWidth(operand.shape().element_type());
  HONE_ASSIGN_OR_RETURN(Literal result,
                        context.Allocate(operation.instruction.shape_ptr()));
  if (Contains(d.slice_sizes, 0)) {
    const Bytes16 zero = {};
    HONE_RETURN_IF_ERROR(Fill(context, width,
                              reinterpret_cast<const std::byte*>(&zero),
                              result.MutableData(), result.num_elements()));
    return result;
  }
  const DimensionVector operand_strides =
      RowMajorStrides(operand.shape().dimensions());
  const DimensionVector result_strides =
      RowMajorStrides(result.shape().dimensions());
  const IndexVectors indices(operation.operands[1], d.index_vector_dim,
                             d.start_index_map, d.operand_batching_dims,
                             d.start_indices_batching_dims);

  // The box that one index vector copies: the slice dimensions that are not
  // collapsed, in order, are the result's offset dimensions.
  DimensionVector sizes;
  DimensionVector source_strides;
  DimensionVector target_strides;
  for (int64_t i = 0; i < operand.shape().rank(); ++i) {
    if (Contains(d.collapsed_slice_dims, i) ||
        Contains(d.operand_batching_dims, i)) {
      continue;
    }
    target_strides.push_back(
        result_strides[static_cast<size_t>(d.offset_dims[sizes.size()])]);
    sizes.push_back(d.slice_sizes[static_cast<size_t>(i)]);
    source_strides.push_back(operand_strides[static_cast<size_t>(i)]);
  }
  const int64_t box = Product(sizes);
  const bool is_run = source_strides == RowMajorStrides(sizes) &&
                      target_strides == RowMajorStrides(sizes);
  // The result's other dimensions follow the index vectors.
  DimensionVector batch_strides;
  for (int64_t i = 0; i < result.shape().rank(); ++i) {
    if (!Contains(d.offset_dims, i)) {
      batch_strides.push_back(result_strides[static_cast<size_t>(i)]);
    }
  }
  const DimensionVector& slice_sizes = d.slice_sizes;
  return DispatchWidth(width, [&]<typename T>() -> absl::StatusOr<Literal> {
    const T* from = reinterpret_cast<const T*>(operand.data());
    T* to = reinterpret_cast<T*>(result.MutableData());
    HONE_RETURN_IF_ERROR(context.ParallelFor(
        indices.count(), std::max<int64_t>(64 * 1024 / box, 1),
        [&](int64_t begin, int64_t end) {
          DimensionVector start(operand_strides.size());
          DimensionVector batch(batch_strides.size());
          DimensionVector at(sizes.size());
          for (int64_t v = begin; v < end; ++v) {
            indices.Read(v, batch, start);
            int64_t source = 0;
            for (size_t i = 0; i < start.size(); ++i) {
              source += std::clamp<int64_t>(
                            start[i], 0,
                            operand.shape().dimensions()[i] - slice_sizes[i]) *
                        operand_strides[i];
            }
            int64_t target = 0;
            for (size_t i = 0; i < batch.size(); ++i) {
              target += batch[i] * batch_strides[i];
            }
            if (is_run) {
              std::copy_n(from + source, box, to + target);
              continue;
            }
            for (int64_t e = 0; e < box; ++e) {
              Unravel(e, sizes, at);
              int64_t s = source;
              int64_t t = target;
              for (size_t i = 0; i < at.size(); ++i) {
                s += at[i] * source_strides[i];
                t += at[i] * target_strides[i];
              }
              to[t] = from[s];
            }
          }
        }));
    return std::move(result);
  });
}

}  // namespace hone::hlo::evaluator
