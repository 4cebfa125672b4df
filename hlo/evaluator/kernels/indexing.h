#ifndef HONE_HLO_EVALUATOR_KERNELS_INDEXING_H_
#define HONE_HLO_EVALUATOR_KERNELS_INDEXING_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hlo/ir/literal.h"

namespace hone::hlo::evaluator {

inline bool Contains(const DimensionVector& dimensions, int64_t d) {
  return std::find(dimensions.begin(), dimensions.end(), d) != dimensions.end();
}

// The index vectors of gather and scatter: where in the operand each slice
// starts.
// Threads: thread-safe.
class IndexVectors {
 public:
  // `index_map`: the operand dimension each component addresses. The operand's
  // `operand_batching` dimensions follow the `indices_batching` dimensions of
  // the indices. If index_vector_dim is the rank, the indices are vectors of
  // one component.
  IndexVectors(const Literal& indices, int64_t index_vector_dim,
               const DimensionVector& index_map,
               const DimensionVector& operand_batching,
               const DimensionVector& indices_batching);

  // The number of index vectors.
  int64_t count() const { return count_; }

  // The position `batch` of vector `v` among the vectors and the start of its
  // slice in the operand, not clamped. Both must have the right size.
  void Read(int64_t v, DimensionVector& batch, DimensionVector& start) const;

 private:
  const DimensionVector index_map_;
  std::vector<int64_t> values_;
  DimensionVector batch_sizes_;
  DimensionVector batch_strides_;
  int64_t component_stride_ = 0;
  int64_t count_ = 1;
  // Operand dimension and the position in `batch` it follows.
  std::vector<std::pair<size_t, size_t>> batching_;
};

}  // namespace hone::hlo::evaluator

#endif  // HONE_HLO_EVALUATOR_KERNELS_INDEXING_H_
