#include "hlo/evaluator/kernels/gemm.h"

#include <algorithm>
#include <complex>

#include <cblas.h>

#include "hlo/evaluator/elementwise/arithmetic.h"
#include "hlo/evaluator/types.h"

namespace hone::hlo::evaluator {
namespace {

// Parallelism is ours: one call must stay on its thread.
void UseOneThread() {
  static const bool done = [] {
    openblas_set_num_threads(1);
    return true;
  }();
  static_cast<void>(done);
}

struct BlasMatrix {
  CBLAS_TRANSPOSE transpose;
  blasint leading;
};

template <typename T>
BlasMatrix AsBlas(const MatrixView<T>& m, int64_t rows, int64_t columns) {
  const bool row_major =
      columns == 1 ? rows == 1 || m.row_stride >= 1 : m.column_stride == 1;
  // The stride of a dimension of size 1 is arbitrary but must be legal.
  if (row_major) {
    return {CblasNoTrans,
            static_cast<blasint>(rows == 1 ? columns
                                           : std::max(m.row_stride, columns))};
  }
  return {CblasTrans,
          static_cast<blasint>(columns == 1 ? rows
                                            : std::max(m.column_stride, rows))};
}

template <typename T>
void BlasGemm(int64_t m64, int64_t n64, int64_t k64, MatrixView<T> a,
              MatrixView<T> b, T* c, int64_t c_stride, bool accumulate) {
  UseOneThread();
  const BlasMatrix la = AsBlas(a, m64, k64);
  const BlasMatrix lb = AsBlas(b, k64, n64);
  const auto m = static_cast<blasint>(m64);
  const auto n = static_cast<blasint>(n64);
  const auto k = static_cast<blasint>(k64);
  const auto ldc = static_cast<blasint>(std::max(c_stride, n64));
  const T alpha{1};
  const T beta{accumulate ? 1.0f : 0.0f};
  if constexpr (std::same_as<T, float>) {
    cblas_sgemm(CblasRowMajor, la.transpose, lb.transpose, m, n, k, alpha,
                a.data, la.leading, b.data, lb.leading, beta, c, ldc);
  } else if constexpr (std::same_as<T, double>) {
    cblas_dgemm(CblasRowMajor, la.transpose, lb.transpose, m, n, k, alpha,
                a.data, la.leading, b.data, lb.leading, beta, c, ldc);
  } else if constexpr (std::same_as<T, std::complex<float>>) {
    cblas_cgemm(CblasRowMajor, la.transpose, lb.transpose, m, n, k, &alpha,
                a.data, la.leading, b.data, lb.leading, &beta, c, ldc);
  } else {
    cblas_zgemm(CblasRowMajor, la.transpose, lb.transpose, m, n, k, &alpha,
                a.data, la.leading, b.data, lb.leading, &beta, c, ldc);
  }
}

}  // namespace

template <typename T>
void Gemm(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b,
          T* c, int64_t c_stride, bool accumulate) {
  if (m == 0 || n == 0) return;
  if constexpr (Floating<T> || Complex<T>) {
    if (k > 0) return BlasGemm(m, n, k, a, b, c, c_stride, accumulate);
  }
  for (int64_t i = 0; i < m; ++i) {
    T* row = c + i * c_stride;
    if (!accumulate) std::fill_n(row, n, T{});
    for (int64_t p = 0; p < k; ++p) {
      const T x = a.data[i * a.row_stride + p * a.column_stride];
      const T* y = b.data + p * b.row_stride;
      HONE_VECTORIZE
      for (int64_t j = 0; j < n; ++j) {
        row[j] = Add::Apply(row[j], Multiply::Apply(x, y[j * b.column_stride]));
      }
    }
  }
}

#define HONE_GEMM(T)                                              \
  template void Gemm<T>(int64_t, int64_t, int64_t, MatrixView<T>, \
                        MatrixView<T>, T*, int64_t, bool);
HONE_GEMM(bool)
HONE_GEMM(int8_t)
HONE_GEMM(int16_t)
HONE_GEMM(int32_t)
HONE_GEMM(int64_t)
HONE_GEMM(uint8_t)
HONE_GEMM(uint16_t)
HONE_GEMM(uint32_t)
HONE_GEMM(uint64_t)
HONE_GEMM(float)
HONE_GEMM(double)
HONE_GEMM(std::complex<float>)
HONE_GEMM(std::complex<double>)
#undef HONE_GEMM

}  // namespace hone::hlo::evaluator
