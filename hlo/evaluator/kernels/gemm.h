#ifndef HONE_HLO_EVALUATOR_KERNELS_GEMM_H_
#define HONE_HLO_EVALUATOR_KERNELS_GEMM_H_

#include <cstdint>

namespace hone::hlo::evaluator {

// A matrix in memory of which at least one stride is 1 (or belongs to a
// dimension of size 1).
template <typename T>
struct MatrixView {
  const T* data;
  int64_t row_stride;
  int64_t column_stride;
};

// c = a·b, or c += a·b. a is [m, k], b is [k, n], c is [m, n] with rows
// `c_stride` apart. On the caller's thread; floats and complex through BLAS.
// T is a compute type (types.h).
template <typename T>
void Gemm(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b,
          T* c, int64_t c_stride, bool accumulate = false);

}  // namespace hone::hlo::evaluator

#endif  // HONE_HLO_EVALUATOR_KERNELS_GEMM_H_
