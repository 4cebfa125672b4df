#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "hlo/evaluator/elementwise/arithmetic.h"
#include "hlo/evaluator/kernels.h"
#include "hlo/evaluator/kernels/strided_copy.h"
#include "hlo/evaluator/kernels/window.h"
#include "hlo/evaluator/region.h"
#include "hlo/evaluator/types.h"

namespace hone::hlo::evaluator {
namespace {

constexpr int64_t kGrain = 64 * 1024;

// Combines each element of an array [outer, size, inner] with the result before
// it, or after it if `is_reversed`. For suffixes this associates floats in
// another order than the windows do.
template <typename Op, typename T>
absl::Status ScanPass(Context& context, bool is_reversed, int64_t outer,
                      int64_t size, int64_t inner, const T* x, T* out) {
  const int64_t work = std::max<int64_t>(inner * size, 1);
  return context.ParallelFor(
      outer, std::max<int64_t>(kGrain / work, 1),
      [&](int64_t begin, int64_t end) {
        for (int64_t line = begin; line < end; ++line) {
          const T* before = nullptr;
          for (int64_t i = 0; i < size; ++i) {
            const int64_t row = line * size + (is_reversed ? size - 1 - i : i);
            const T* from = x + row * inner;
            T* to = out + row * inner;
            HONE_VECTORIZE
            for (int64_t j = 0; j < inner; ++j) {
              to[j] = Op::Apply(i == 0 ? Op::template Identity<T>() : before[j],
                                from[j]);
            }
            before = to;
          }
        }
      });
}

// Slides the window along one dimension of an array [outer, size, inner].
template <typename Op, typename T>
absl::Status Pass(Context& context, const WindowDimension& w, int64_t outer,
                  int64_t size, int64_t inner, int64_t out_size, const T* x,
                  T* out) {
  if (inner == 0) return absl::OkStatus();
  const bool is_suffix = IsSuffix(w, size);
  if (is_suffix || IsPrefix(w, size)) {
    return ScanPass<Op, T>(context, is_suffix, outer, size, inner, x, out);
  }
  const int64_t work = std::max<int64_t>(inner * w.size, 1);
  return context.ParallelFor(
      outer * out_size, std::max<int64_t>(kGrain / work, 1),
      [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const T* from = x + row / out_size * size * inner;
          T* to = out + row * inner;
          std::fill_n(to, inner, Op::template Identity<T>());
          for (int64_t k = 0; k < w.size; ++k) {
            const int64_t index = InputIndex(w, size, row % out_size, k);
            if (index < 0) continue;
            const T* source = from + index * inner;
            HONE_VECTORIZE
            for (int64_t i = 0; i < inner; ++i) {
              to[i] = Op::Apply(to[i], source[i]);
            }
          }
        }
      });
}

// The simple reducers are associative and commutative, so the window may slide
// along one dimension after the other.
template <typename Op, typename T>
absl::StatusOr<Literal> Separable(Context& context, const Operation& operation,
                                  Literal operand, const Literal& init) {
  const Window& window = *operation.attributes().window;
  DimensionVector sizes = operand.shape().dimensions();
  const ElementType type = operand.shape().element_type();
  for (size_t d = 0; d < window.size(); ++d) {
    if (IsTrivial(window[d])) continue;
    int64_t outer = 1;
    int64_t inner = 1;
    for (size_t i = 0; i < d; ++i) outer *= sizes[i];
    for (size_t i = d + 1; i < sizes.size(); ++i) inner *= sizes[i];
    const int64_t size = sizes[d];
    sizes[d] = operation.shape().dimensions()[d];
    HONE_ASSIGN_OR_RETURN(Literal next,
                          context.Allocate(Shape::Array(type, sizes)));
    const absl::Status status = Pass<Op, T>(
        context, window[d], outer, size, inner, sizes[d],
        operand.values<T>().data(), next.mutable_values<T>().data());
    HONE_RETURN_IF_ERROR(status);
    operand = std::move(next);
  }
  HONE_ASSIGN_OR_RETURN(Literal result, context.Allocate(WithElementType(
                                            operation.shape(), type)));
  const T start = init.values<T>()[0];
  const T* x = operand.values<T>().data();
  T* out = result.mutable_values<T>().data();
  const int64_t n = result.num_elements();
  HONE_VECTORIZE
  for (int64_t i = 0; i < n; ++i) out[i] = Op::Apply(start, x[i]);
  return result;
}

template <typename Op>
absl::StatusOr<Literal> SeparableTyped(Context& context,
                                       const Operation& operation,
                                       Literal operand, const Literal& init) {
  std::optional<absl::StatusOr<Literal>> result = DispatchType(
      operand.shape().element_type(),
      [&]<typename T>() -> std::optional<absl::StatusOr<Literal>> {
        if constexpr (requires(T t) {
                        Op::Apply(t, t);
                        Op::template Identity<T>();
                      }) {
          return Separable<Op, T>(context, operation, std::move(operand), init);
        } else {
          return std::nullopt;
        }
      });
  if (!result) return UnimplementedError(operation.instruction);
  return *std::move(result);
}

absl::StatusOr<Literal> ByOpcode(Context& context, const Operation& operation,
                                 Opcode opcode) {
  const ElementType type =
      ComputeType(operation.operands[0].shape().element_type());
  HONE_ASSIGN_OR_RETURN(
      Literal operand,
      Convert(context, std::move(operation.operands[0]), type));
  HONE_ASSIGN_OR_RETURN(
      const Literal init,
      Convert(context, std::move(operation.operands[1]), type));
  switch (opcode) {
    case Opcode::kAdd:
      return SeparableTyped<Add>(context, operation, std::move(operand), init);
    case Opcode::kMultiply:
      return SeparableTyped<Multiply>(context, operation, std::move(operand),
                                      init);
    case Opcode::kMaximum:
      return SeparableTyped<Maximum>(context, operation, std::move(operand),
                                     init);
    case Opcode::kMinimum:
      return SeparableTyped<Minimum>(context, operation, std::move(operand),
                                     init);
    case Opcode::kAnd:
      return SeparableTyped<And>(context, operation, std::move(operand), init);
    default:
      return SeparableTyped<Or>(context, operation, std::move(operand), init);
  }
}

// The dimension along which windows are prefixes.
struct PrefixDimension {
  int64_t size = 0;
  // Elements from one index to the next.
  int64_t stride = 0;
};

// Returns nullopt unless windows are prefixes along exactly one dimension.
std::optional<PrefixDimension> AsPrefixes(const Window& window,
                                          const DimensionVector& sizes) {
  std::optional<PrefixDimension> prefixes;
  int64_t stride = 1;
  for (size_t d = window.size(); d-- > 0; stride *= sizes[d]) {
    if (IsTrivial(window[d])) continue;
    if (prefixes.has_value() || !IsPrefix(window[d], sizes[d])) {
      return std::nullopt;
    }
    prefixes = {sizes[d], stride};
  }
  return prefixes;
}

// Any region, any number of operands: element by element, taps in order. A
// prefix starts with the result of the prefix before it.
absl::StatusOr<Literal> ByRegion(Context& context, const Operation& operation) {
  const size_t count = operation.operands.size() / 2;
  const Window& window = *operation.attributes().window;
  const DimensionVector& input_size =
      operation.operands[0].shape().dimensions();
  Region region(context, operation.instruction.called()[0]);
  std::vector<Literal> results;
  std::vector<int64_t> widths;
  for (size_t i = 0; i < count; ++i) {
    const ShapePtr& shape =
        operation.shape().IsTuple()
            ? operation.shape().tuple_element(static_cast<int64_t>(i))
            : operation.instruction.shape_ptr();
    HONE_ASSIGN_OR_RETURN(Literal result, context.Allocate(shape));
    widths.push_back(ByteWidth(shape->element_type()));
    HONE_RETURN_IF_ERROR(Fill(context, widths[i],
                              operation.operands[count + i].data(),
                              result.MutableData(), result.num_elements()));
    results.push_back(std::move(result));
  }
  const DimensionVector& output_size = results[0].shape().dimensions();
  DimensionVector position(output_size.size());
  std::vector<ElementwiseProgram::Input> inputs(2 * count);
  std::vector<std::byte*> outputs(count);
  absl::Status status;
  const std::optional<PrefixDimension> prefixes =
      AsPrefixes(window, input_size);
  const auto combine = [&](int64_t at) {
    for (size_t i = 0; i < count; ++i) {
      inputs[count + i].data = operation.operands[i].data() + at * widths[i];
    }
    status.Update(region.Apply(inputs, outputs, 1));
  };
  for (int64_t o = 0; o < results[0].num_elements(); ++o) {
    for (size_t i = 0; i < count; ++i) {
      outputs[i] = results[i].MutableData() + o * widths[i];
      inputs[i].data = outputs[i];
    }
    if (prefixes.has_value()) {
      const bool is_first = o / prefixes->stride % prefixes->size == 0;
      for (size_t i = 0; i < count && !is_first; ++i) {
        std::memcpy(outputs[i], outputs[i] - prefixes->stride * widths[i],
                    static_cast<size_t>(widths[i]));
      }
      combine(o);
    } else {
      Unravel(o, output_size, position);
      VisitTaps(window, input_size, position,
                [&](int64_t, int64_t at) { combine(at); });
    }
    HONE_RETURN_IF_ERROR(status);
    if (o % 1024 == 0) HONE_RETURN_IF_ERROR(context.CheckDeadline());
  }
  if (operation.shape().IsTuple()) return Literal::Tuple(std::move(results));
  return std::move(results[0]);
}

}  // namespace

absl::StatusOr<Literal> EvaluateReduceWindow(Context& context,
                                             const Operation& operation) {
  if (operation.operands.size() == 2 && !operation.shape().IsTuple()) {
    const std::optional<Opcode> opcode =
        SimpleReducer(context.module(), operation.instruction.called()[0]);
    // Unless the reducer computes in a narrow type, which rounds every step.
    const ElementType type = operation.operands[0].shape().element_type();
    if (opcode && ComputeType(type) == type) {
      return ByOpcode(context, operation, *opcode);
    }
  }
  return ByRegion(context, operation);
}

}  // namespace hone::hlo::evaluator
