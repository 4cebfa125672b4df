#include <cmath>
#include <complex>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

#include "base/status_macros.h"
#include "hlo/evaluator/kernels.h"
#include "hlo/evaluator/types.h"

namespace hone::hlo::evaluator {
namespace {

// An attribute that is kept as text; empty if it is not given.
absl::string_view Attribute(const Operation& operation,
                            absl::string_view name) {
  const std::string* text = operation.attributes().FindOther(name);
  return text == nullptr ? absl::string_view() : *text;
}

template <typename T>
T Conjugate(T x) {
  if constexpr (Complex<T>) {
    return std::conj(x);
  } else {
    return x;
  }
}

// One n×n matrix: the triangle of `a` that `lower` names is read; the factor's
// other triangle is zero. A matrix that is not positive definite becomes NaN.
template <typename T>
void Cholesky(int64_t n, bool lower, const T* a, T* out) {
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
  bool valid = true;
  for (int64_t j = 0; j < n; ++j) {
    valid = valid && !std::isnan(std::real(l[at(j, j)]));
  }
  const T nan =
      std::numeric_limits<decltype(std::real(T{}))>::quiet_NaN() * T{1};
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const bool in_triangle = lower ? j <= i : j >= i;
      const T value = lower ? l[at(i, j)] : Conjugate(l[at(j, i)]);
      out[i * n + j] = !in_triangle ? T{} : valid ? value : nan;
    }
  }
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

}  // namespace

absl::StatusOr<Literal> EvaluateCholesky(Context& context,
                                         const Operation& operation) {
  const bool lower = Attribute(operation, "lower") == "true";
  const ElementType type = ComputeType(operation.shape().element_type());
  HONE_ASSIGN_OR_RETURN(
      const Literal a,
      Convert(context, std::move(operation.operands[0]), type));
  HONE_ASSIGN_OR_RETURN(Literal result, context.Allocate(WithElementType(
                                            operation.shape(), type)));
  const int64_t n = operation.shape().dimensions().back();
  const int64_t batches = n == 0 ? 0 : a.num_elements() / (n * n);
  const bool done = DispatchType(type, [&]<typename T>() {
    if constexpr (Floating<T> || Complex<T>) {
      for (int64_t i = 0; i < batches; ++i) {
        Cholesky(n, lower, a.values<T>().data() + i * n * n,
                 result.mutable_values<T>().data() + i * n * n);
      }
      return true;
    }
    return false;
  });
  if (!done) return UnimplementedError(operation.instruction);
  return Convert(context, std::move(result), operation.shape().element_type());
}

absl::StatusOr<Literal> EvaluateTriangularSolve(Context& context,
                                                const Operation& operation) {
  const bool left = Attribute(operation, "left_side") == "true";
  const bool lower = Attribute(operation, "lower") == "true";
  const bool unit_diagonal = Attribute(operation, "unit_diagonal") == "true";
  const absl::string_view name = Attribute(operation, "transpose_a");
  const Transposition transposition =
      name == "TRANSPOSE" ? Transposition::kTranspose
      : name == "ADJOINT" ? Transposition::kAdjoint
                          : Transposition::kNone;
  const ElementType type = ComputeType(operation.shape().element_type());
  HONE_ASSIGN_OR_RETURN(
      const Literal a,
      Convert(context, std::move(operation.operands[0]), type));
  HONE_ASSIGN_OR_RETURN(
      const Literal b,
      Convert(context, std::move(operation.operands[1]), type));
  HONE_ASSIGN_OR_RETURN(Literal result, context.Allocate(WithElementType(
                                            operation.shape(), type)));
  const int64_t n = a.shape().dimensions().back();
  const int64_t batches = n == 0 ? 0 : a.num_elements() / (n * n);
  const bool done = DispatchType(type, [&]<typename T>() {
    if constexpr (Floating<T> || Complex<T>) {
      const absl::Span<T> x = result.mutable_values<T>();
      std::copy(b.values<T>().begin(), b.values<T>().end(), x.begin());
      const int64_t size = batches == 0 ? 0 : b.num_elements() / batches;
      for (int64_t i = 0; i < batches; ++i) {
        SolveTriangular(n, a.values<T>().data() + i * n * n, left, lower,
                        unit_diagonal, transposition, size / n,
                        x.data() + i * size);
      }
      return true;
    }
    return false;
  });
  if (!done) return UnimplementedError(operation.instruction);
  return Convert(context, std::move(result), operation.shape().element_type());
}

}  // namespace hone::hlo::evaluator
