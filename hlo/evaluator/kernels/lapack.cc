// Custom calls to LAPACK as JAX emits them, by the unblocked algorithms that
// define the routines. Arrays are logical: a layout only says how XLA passes
// them.

#include <algorithm>
#include <cmath>
#include <complex>
#include <initializer_list>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "hlo/evaluator/kernels.h"
#include "hlo/evaluator/kernels/linalg.h"
#include "hlo/evaluator/types.h"
#include "hlo/ir/lapack_call.h"

namespace hone::hlo::evaluator {
namespace {

// A row-major matrix.
template <typename T>
struct Matrix {
  T* data;
  int64_t rows;
  int64_t columns;

  T& operator()(int64_t i, int64_t j) const { return data[i * columns + j]; }
};

// The magnitude by which LAPACK chooses pivots.
template <typename T>
double PivotSize(T x) {
  return static_cast<double>(std::fabs(std::real(x))) +
         static_cast<double>(std::fabs(std::imag(x)));
}

// Returns the number of the first zero pivot, from 1; 0 if there is none.
template <typename T>
int32_t Getrf(Matrix<T> a, int32_t* pivots) {
  int32_t info = 0;
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < a.rows; ++i) {
      if (PivotSize(a(i, k)) > PivotSize(a(pivot, k))) pivot = i;
    }
    pivots[k] = static_cast<int32_t>(pivot + 1);
    if (a(pivot, k) == T{}) {
      if (info == 0) info = static_cast<int32_t>(k + 1);
      continue;
    }
    for (int64_t j = 0; j < a.columns && pivot != k; ++j) {
      std::swap(a(k, j), a(pivot, j));
    }
    for (int64_t i = k + 1; i < a.rows; ++i) {
      a(i, k) /= a(k, k);
      for (int64_t j = k + 1; j < a.columns; ++j) {
        a(i, j) -= a(i, k) * a(k, j);
      }
    }
  }
  return info;
}

// Applies 1 - factor·v·vᴴ to the columns from `first` on, where v is column k
// of `reflectors` from row k on, with 1 in row k.
template <typename T>
void Reflect(Matrix<T> reflectors, int64_t k, T factor, Matrix<T> a,
             int64_t first) {
  const auto v = [&](int64_t i) { return i == k ? T{1} : reflectors(i, k); };
  for (int64_t j = first; j < a.columns; ++j) {
    T sum{};
    for (int64_t i = k; i < a.rows; ++i) sum += Conjugate(v(i)) * a(i, j);
    sum *= factor;
    for (int64_t i = k; i < a.rows; ++i) a(i, j) -= v(i) * sum;
  }
}

template <typename T>
void Geqrf(Matrix<T> a, T* tau) {
  using Real = decltype(std::real(T{}));
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    const T alpha = a(k, k);
    Real rest = 0;
    for (int64_t i = k + 1; i < a.rows; ++i) {
      rest = std::hypot(rest, std::abs(a(i, k)));
    }
    tau[k] = T{};
    if (rest == 0 && std::imag(alpha) == 0) continue;
    const Real beta =
        -std::copysign(std::hypot(std::abs(alpha), rest), std::real(alpha));
    tau[k] = (T{1} * beta - alpha) / (T{1} * beta);
    for (int64_t i = k + 1; i < a.rows; ++i) a(i, k) /= alpha - T{1} * beta;
    Reflect(a, k, Conjugate(tau[k]), a, k + 1);
    a(k, k) = T{1} * beta;
  }
}

template <typename T>
void Ungqr(Matrix<T> reflectors, int64_t count, const T* tau, Matrix<T> q) {
  for (int64_t i = 0; i < q.rows; ++i) {
    for (int64_t j = 0; j < q.columns; ++j) q(i, j) = i == j ? T{1} : T{};
  }
  for (int64_t k = count; k-- > 0;) Reflect(reflectors, k, tau[k], q, 0);
}

// The operands and results of a call whose first operand is a matrix, or a
// batch of matrices, of type T.
template <typename T>
class Call {
 public:
  Call(Context& context, const Operation& operation)
      : context_(context), operation_(operation) {
    const auto& dimensions = operand(0).shape().dimensions();
    rows_ = dimensions[dimensions.size() - 2];
    columns_ = dimensions.back();
    for (size_t i = 0; i + 2 < dimensions.size(); ++i) batch_ *= dimensions[i];
  }

  int64_t batch() const { return batch_; }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  const Literal& operand(size_t i) const { return operation_.operands[i]; }
  bool Is(absl::string_view name, char letter) const {
    return BackendConfigNumber(operation_.attributes(), name) == letter;
  }
  // The data of matrix i, with `size` elements each.
  const T* from(size_t number, int64_t i, int64_t size) const {
    return operand(number).template values<T>().data() + i * size;
  }

  // A new result that begins as a copy of an operand.
  absl::StatusOr<Literal> Copy(size_t number) {
    HONE_ASSIGN_OR_RETURN(Literal copy, New(operand(number).shape_ptr()));
    const auto values = operand(number).template values<T>();
    std::copy(values.begin(), values.end(),
              copy.template mutable_values<T>().begin());
    return copy;
  }
  absl::StatusOr<Literal> New(const ShapePtr& shape) {
    return context_.Allocate(
        Shape::Array(shape->element_type(), shape->dimensions()));
  }
  absl::StatusOr<Literal> NewElement(int64_t i) {
    return New(operation_.shape().tuple_element(i));
  }
  Matrix<T> At(Literal& matrices, int64_t i) const {
    return {matrices.mutable_values<T>().data() + i * rows_ * columns_, rows_,
            columns_};
  }

 private:
  Context& context_;
  const Operation& operation_;
  int64_t batch_ = 1;
  int64_t rows_ = 0;
  int64_t columns_ = 0;
};

template <typename T>
absl::StatusOr<Literal> CallPotrf(Call<T> call) {
  HONE_ASSIGN_OR_RETURN(Literal factors, call.Copy(0));
  HONE_ASSIGN_OR_RETURN(Literal info, call.NewElement(1));
  const bool lower = call.Is("uplo", 'L');
  const int64_t n = call.rows();
  std::vector<T> factor(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < call.batch(); ++i) {
    const int64_t failed =
        Cholesky(n, lower, call.from(0, i, n * n), factor.data());
    info.SetInt(i, failed);
    const Matrix<T> to = call.At(factors, i);
    for (int64_t r = 0; r < n; ++r) {
      for (int64_t c = 0; c < n; ++c) {
        if (lower ? c <= r : c >= r) {
          to(r, c) = factor[static_cast<size_t>(r * n + c)];
        }
      }
    }
  }
  return Literal::Tuple({std::move(factors), std::move(info)});
}

template <typename T>
absl::StatusOr<Literal> CallGetrf(Call<T> call) {
  HONE_ASSIGN_OR_RETURN(Literal factors, call.Copy(0));
  HONE_ASSIGN_OR_RETURN(Literal pivots, call.NewElement(1));
  HONE_ASSIGN_OR_RETURN(Literal info, call.NewElement(2));
  const int64_t count = std::min(call.rows(), call.columns());
  for (int64_t i = 0; i < call.batch(); ++i) {
    info.SetInt(i, Getrf(call.At(factors, i),
                         pivots.mutable_values<int32_t>().data() + i * count));
  }
  return Literal::Tuple(
      {std::move(factors), std::move(pivots), std::move(info)});
}

template <typename T>
absl::StatusOr<Literal> CallGeqrf(Call<T> call) {
  HONE_ASSIGN_OR_RETURN(Literal factors, call.Copy(0));
  HONE_ASSIGN_OR_RETURN(Literal tau, call.NewElement(1));
  const int64_t count = std::min(call.rows(), call.columns());
  for (int64_t i = 0; i < call.batch(); ++i) {
    Geqrf(call.At(factors, i), tau.mutable_values<T>().data() + i * count);
  }
  return Literal::Tuple({std::move(factors), std::move(tau)});
}

template <typename T>
absl::StatusOr<Literal> CallUngqr(Call<T> call) {
  HONE_ASSIGN_OR_RETURN(Literal reflectors, call.Copy(0));
  HONE_ASSIGN_OR_RETURN(Literal q, call.Copy(0));
  const int64_t count = call.operand(1).shape().dimensions().back();
  for (int64_t i = 0; i < call.batch(); ++i) {
    Ungqr(call.At(reflectors, i), count, call.from(1, i, count), call.At(q, i));
  }
  return q;
}

template <typename T>
absl::StatusOr<Literal> CallTrsm(Call<T> call) {
  HONE_ASSIGN_OR_RETURN(Literal x, call.Copy(1));
  const int64_t n = call.rows();
  const int64_t size = call.batch() == 0 ? 0 : x.num_elements() / call.batch();
  const Transposition transposition =
      call.Is("trans_x", 'T')   ? Transposition::kTranspose
      : call.Is("trans_x", 'C') ? Transposition::kAdjoint
                                : Transposition::kNone;
  for (int64_t i = 0; i < call.batch() && n > 0; ++i) {
    SolveTriangular(n, call.from(0, i, n * n), call.Is("side", 'L'),
                    call.Is("uplo", 'L'), call.Is("diag", 'U'), transposition,
                    size / n, x.mutable_values<T>().data() + i * size);
  }
  return x;
}

template <typename T>
absl::StatusOr<Literal> Evaluate(Context& context, const Operation& operation,
                                 absl::string_view routine) {
  Call<T> call(context, operation);
  if (routine == "potrf") return CallPotrf(std::move(call));
  if (routine == "getrf") return CallGetrf(std::move(call));
  if (routine == "geqrf") return CallGeqrf(std::move(call));
  if (routine == "trsm") return CallTrsm(std::move(call));
  return CallUngqr(std::move(call));
}

// Returns true if every element of the operands is of that type and each has at
// least as many dimensions.
bool HasArrays(const Computation& computation, const Instruction& instruction,
               ElementType type, absl::Span<const int64_t> ranks) {
  if (instruction.operand_count() != ranks.size()) return false;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const Shape& shape = computation[instruction.operand(i)].shape();
    if (shape.element_type() != type || shape.rank() < ranks[i]) return false;
  }
  return true;
}

}  // namespace

bool IsLapackCall(const Computation& computation,
                  const Instruction& instruction) {
  const auto call =
      LapackCall::OfTarget(instruction.attributes().custom_call_target);
  if (!call.has_value()) return false;
  const Shape& shape = instruction.shape();
  const auto has_results = [&](size_t count) {
    return shape.IsTuple() && shape.tuple_elements().size() == count;
  };
  const auto has = [&](std::initializer_list<int64_t> ranks) {
    return HasArrays(computation, instruction, call->type,
                     absl::MakeConstSpan(ranks.begin(), ranks.size()));
  };
  if (call->routine == "potrf") return has({2}) && has_results(2);
  if (call->routine == "getrf") return has({2}) && has_results(3);
  if (call->routine == "geqrf") return has({2}) && has_results(2);
  if (call->routine == "trsm") return has({2, 2}) && !shape.IsTuple();
  return (call->routine == "orgqr" || call->routine == "ungqr") &&
         has({2, 1}) && !shape.IsTuple();
}

absl::StatusOr<Literal> EvaluateLapackCall(Context& context,
                                           const Operation& operation) {
  const auto call =
      LapackCall::OfTarget(operation.attributes().custom_call_target);
  if (!call.has_value()) return UnimplementedError(operation.instruction);
  switch (call->type) {
    case ElementType::kF32:
      return Evaluate<float>(context, operation, call->routine);
    case ElementType::kF64:
      return Evaluate<double>(context, operation, call->routine);
    case ElementType::kC64:
      return Evaluate<std::complex<float>>(context, operation, call->routine);
    default:
      return Evaluate<std::complex<double>>(context, operation, call->routine);
  }
}

}  // namespace hone::hlo::evaluator
