#include "hlo/evaluator/kernels/linalg.h"

#include <algorithm>
#include <utility>

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
