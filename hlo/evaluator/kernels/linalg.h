#ifndef HONE_HLO_EVALUATOR_KERNELS_LINALG_H_
#define HONE_HLO_EVALUATOR_KERNELS_LINALG_H_

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "hlo/evaluator/types.h"

namespace hone::hlo::evaluator {

template <typename T>
T Conjugate(T x) {
  if constexpr (Complex<T>) {
    return std::conj(x);
  } else {
    return x;
  }
}

// One n×n matrix: the triangle of `a` that `lower` names is read; the factor's
// other triangle is zero. A matrix that is not positive definite becomes NaN;
// returns the order of its first leading minor that is not, else 0.
template <typename T>
int64_t Cholesky(int64_t n, bool lower, const T* a, T* out) {
  // Works on the lower factor; the upper one is its conjugate transpose.
  const auto at = [&](int64_t i, int64_t j) {
    return static_cast<size_t>(i * n + j);
  };
  std::vector<T> l(static_cast<size_t>(n * n));
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j; i < n; ++i) {
      T sum = lower ? a[i * n + j] : Conjugate(a[j * n + i]);
      for (int64_t k = 0; k < j; ++k) {
        sum -= l[at(i, k)] * Conjugate(l[at(j, k)]);
      }
      if (i == j) {
        l[at(j, j)] = std::sqrt(std::real(sum)) * T{1};
      } else {
        l[at(i, j)] = sum / l[at(j, j)];
      }
    }
  }
  int64_t failed = 0;
  for (int64_t j = n; j-- > 0;) {
    const auto pivot = std::real(l[at(j, j)]);
    if (std::isnan(pivot)) failed = j + 1;
  }
  const T nan =
      std::numeric_limits<decltype(std::real(T{}))>::quiet_NaN() * T{1};
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const bool in_triangle = lower ? j <= i : j >= i;
      const T value = lower ? l[at(i, j)] : Conjugate(l[at(j, i)]);
      out[i * n + j] = !in_triangle ? T{} : failed == 0 ? value : nan;
    }
  }
  return failed;
}

enum class Transposition { kNone, kTranspose, kAdjoint };

// x of op(a)·x = b (left) or x·op(a) = b, in place of b [m, k].
template <typename T>
void SolveTriangular(int64_t n, const T* a, bool left, bool lower,
                     bool unit_diagonal, Transposition transposition,
                     int64_t columns, T* b) {
  // Element (i, j) of op(a); x·op(a) = b is op(a)ᵀ·xᵀ = bᵀ.
  const auto element = [&](int64_t i, int64_t j) {
    if (!left) std::swap(i, j);
    if (transposition == Transposition::kNone) return a[i * n + j];
    const T value = a[j * n + i];
    return transposition == Transposition::kAdjoint ? Conjugate(value) : value;
  };
  const bool is_lower = lower ^ (transposition != Transposition::kNone) ^ !left;
  const auto x = [&](int64_t i, int64_t c) -> T& {
    return left ? b[i * columns + c] : b[c * n + i];
  };
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t step = 0; step < n; ++step) {
      const int64_t i = is_lower ? step : n - 1 - step;
      T sum = x(i, c);
      for (int64_t s = 0; s < step; ++s) {
        const int64_t j = is_lower ? s : n - 1 - s;
        sum -= element(i, j) * x(j, c);
      }
      x(i, c) = unit_diagonal ? sum : sum / element(i, i);
    }
  }
}

}  // namespace hone::hlo::evaluator

#endif  // HONE_HLO_EVALUATOR_KERNELS_LINALG_H_
