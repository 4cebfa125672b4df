#include "hlo/evaluator/kernels/indexing.h"

#include <limits>

#include "hlo/evaluator/kernels/strided_copy.h"
#include "hlo/evaluator/kernels/window.h"

namespace hone::hlo::evaluator {

IndexVectors::IndexVectors(const Literal& indices, int64_t index_vector_dim,
                           const DimensionVector& index_map,
                           const DimensionVector& operand_batching,
                           const DimensionVector& indices_batching)
    : index_map_(index_map) {
  const DimensionVector& sizes = indices.shape().dimensions();
  const DimensionVector strides = RowMajorStrides(sizes);
  const bool is_u64 = indices.shape().element_type() == ElementType::kU64;
  values_.resize(static_cast<size_t>(indices.num_elements()));
  for (size_t i = 0; i < values_.size(); ++i) {
    values_[i] = indices.AsInt(static_cast<int64_t>(i));
    if (is_u64 && values_[i] < 0) {
      values_[i] = std::numeric_limits<int64_t>::max();
    }
  }
  for (int64_t i = 0; i < indices.shape().rank(); ++i) {
    const size_t d = static_cast<size_t>(i);
    if (i == index_vector_dim) {
      component_stride_ = strides[d];
      continue;
    }
    const auto follower =
        std::find(indices_batching.begin(), indices_batching.end(), i);
    if (follower != indices_batching.end()) {
      const auto which = follower - indices_batching.begin();
      batching_.emplace_back(
          static_cast<size_t>(operand_batching[static_cast<size_t>(which)]),
          batch_sizes_.size());
    }
    batch_sizes_.push_back(sizes[d]);
    batch_strides_.push_back(strides[d]);
  }
  count_ = Product(batch_sizes_);
}

void IndexVectors::Read(int64_t v, DimensionVector& batch,
                        DimensionVector& start) const {
  Unravel(v, batch_sizes_, batch);
  int64_t at = 0;
  for (size_t i = 0; i < batch.size(); ++i) at += batch[i] * batch_strides_[i];
  std::fill(start.begin(), start.end(), 0);
  for (size_t c = 0; c < index_map_.size(); ++c) {
    start[static_cast<size_t>(index_map_[c])] = values_[static_cast<size_t>(
        at + static_cast<int64_t>(c) * component_stride_)];
  }
  for (const auto& [dimension, position] : batching_) {
    start[dimension] = batch[position];
  }
}

}  // namespace hone::hlo::evaluator
