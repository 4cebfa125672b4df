#include <algorithm>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "hlo/evaluator/elementwise/arithmetic.h"
#include "hlo/evaluator/kernels.h"
#include "hlo/evaluator/kernels/strided_copy.h"
#include "hlo/evaluator/region.h"
#include "hlo/evaluator/types.h"

namespace hone::hlo::evaluator {
namespace {

// Elements worth handing to another thread.
constexpr int64_t kGrain = 64 * 1024;
// Independent partial results of a contiguous run, so that it vectorizes; it
// also keeps rounding errors of long sums small.
constexpr int64_t kLanes = 32;
constexpr int64_t kRun = 4096;

// Neighboring dimensions that are all kept or all reduced, as one.
struct Span {
  int64_t size;
  bool reduced;
};

std::vector<Span> Spans(const Shape& shape, const DimensionVector& reduced) {
  std::vector<Span> spans;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const bool is_reduced =
        std::find(reduced.begin(), reduced.end(), d) != reduced.end();
    if (shape.dimension(d) == 1) continue;
    if (!spans.empty() && spans.back().reduced == is_reduced) {
      spans.back().size *= shape.dimension(d);
    } else {
      spans.push_back({shape.dimension(d), is_reduced});
    }
  }
  return spans;
}

template <typename Op, typename T>
T ReduceRun(const T* x, int64_t n) {
  T total = Op::template Identity<T>();
  for (int64_t at = 0; at < n; at += kRun) {
    const int64_t count = std::min(kRun, n - at);
    T lanes[kLanes];
    std::fill_n(lanes, kLanes, Op::template Identity<T>());
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      HONE_VECTORIZE
      for (int64_t l = 0; l < kLanes; ++l) {
        lanes[l] = Op::Apply(lanes[l], x[at + i + l]);
      }
    }
    for (; i < count; ++i) lanes[0] = Op::Apply(lanes[0], x[at + i]);
    for (int64_t step = kLanes / 2; step > 0; step /= 2) {
      for (int64_t l = 0; l < step; ++l) {
        lanes[l] = Op::Apply(lanes[l], lanes[l + step]);
      }
    }
    total = Op::Apply(total, lanes[0]);
  }
  return total;
}

// Reduces the box of `spans` at x into out, which holds partial results.
template <typename Op, typename T>
void ReduceSpans(absl::Span<const Span> spans, int64_t x_size, int64_t out_size,
                 const T* x, T* out) {
  if (spans.empty()) {
    *out = Op::Apply(*out, *x);
    return;
  }
  const Span& span = spans[0];
  if (spans.size() == 1) {
    if (span.reduced) {
      *out = Op::Apply(*out, ReduceRun<Op>(x, span.size));
    } else {
      HONE_VECTORIZE
      for (int64_t i = 0; i < span.size; ++i) out[i] = Op::Apply(out[i], x[i]);
    }
    return;
  }
  const int64_t x_step = x_size / span.size;
  const int64_t out_step = span.reduced ? 0 : out_size / span.size;
  for (int64_t i = 0; i < span.size; ++i) {
    ReduceSpans<Op>(spans.subspan(1), x_step,
                    span.reduced ? out_size : out_step, x + i * x_step,
                    out + i * out_step);
  }
}

// add, multiply, maximum, minimum, and, or over one operand.
template <typename Op, typename T>
absl::Status ReduceSimple(Context& context, const std::vector<Span>& spans,
                          const Literal& operand, const Literal& init,
                          Literal& result) {
  const T* x = operand.values<T>().data();
  T* out = result.mutable_values<T>().data();
  const int64_t x_size = operand.num_elements();
  const int64_t out_size = result.num_elements();
  std::fill_n(out, out_size, init.values<T>()[0]);
  if (x_size == 0) return absl::OkStatus();
  const int64_t outer = spans.empty() ? 1 : spans[0].size;
  if (!spans.empty() && !spans[0].reduced) {
    return context.ParallelFor(
        outer, std::max<int64_t>(kGrain / (x_size / outer), 1),
        [&](int64_t begin, int64_t end) {
          std::vector<Span> part = spans;
          part[0].size = end - begin;
          const int64_t x_step = x_size / outer;
          const int64_t out_step = out_size / outer;
          ReduceSpans<Op>(absl::MakeConstSpan(part), x_step * (end - begin),
                          out_step * (end - begin), x + begin * x_step,
                          out + begin * out_step);
        });
  }
  if (spans.size() == 2) {
    // Columns: share out the columns.
    const int64_t columns = spans[1].size;
    return context.ParallelFor(columns, std::max<int64_t>(kGrain / outer, 64),
                               [&](int64_t begin, int64_t end) {
                                 for (int64_t i = 0; i < outer; ++i) {
                                   const T* row = x + i * columns;
                                   HONE_VECTORIZE
                                   for (int64_t j = begin; j < end; ++j) {
                                     out[j] = Op::Apply(out[j], row[j]);
                                   }
                                 }
                               });
  }
  ReduceSpans<Op>(absl::MakeConstSpan(spans), x_size, out_size, x, out);
  return context.CheckDeadline();
}

template <typename Op>
absl::Status ReduceSimpleTyped(Context& context, const std::vector<Span>& spans,
                               const Literal& operand, const Literal& init,
                               Literal& result) {
  return DispatchType(
      operand.shape().element_type(), [&]<typename T>() -> absl::Status {
        if constexpr (requires(T t) {
                        Op::Apply(t, t);
                        Op::template Identity<T>();
                      }) {
          return ReduceSimple<Op, T>(context, spans, operand, init, result);
        } else {
          return absl::InvalidArgumentError("reducer undefined for the type");
        }
      });
}

absl::StatusOr<Literal> ReduceByOpcode(Context& context,
                                       const Operation& operation,
                                       Opcode opcode) {
  const Shape& shape = operation.operands[0].shape();
  const ElementType type = ComputeType(shape.element_type());
  const std::vector<Span> spans =
      Spans(shape, operation.attributes().dimensions);
  HONE_ASSIGN_OR_RETURN(
      const Literal operand,
      Convert(context, std::move(operation.operands[0]), type));
  HONE_ASSIGN_OR_RETURN(
      const Literal init,
      Convert(context, std::move(operation.operands[1]), type));
  HONE_ASSIGN_OR_RETURN(Literal result, context.Allocate(WithElementType(
                                            operation.shape(), type)));
  absl::Status status;
  switch (opcode) {
    case Opcode::kAdd:
      status = ReduceSimpleTyped<Add>(context, spans, operand, init, result);
      break;
    case Opcode::kMultiply:
      status =
          ReduceSimpleTyped<Multiply>(context, spans, operand, init, result);
      break;
    case Opcode::kMaximum:
      status =
          ReduceSimpleTyped<Maximum>(context, spans, operand, init, result);
      break;
    case Opcode::kMinimum:
      status =
          ReduceSimpleTyped<Minimum>(context, spans, operand, init, result);
      break;
    case Opcode::kAnd:
      status = ReduceSimpleTyped<And>(context, spans, operand, init, result);
      break;
    default:
      status = ReduceSimpleTyped<Or>(context, spans, operand, init, result);
      break;
  }
  HONE_RETURN_IF_ERROR(status);
  return Convert(context, std::move(result), operation.shape().element_type());
}

// Any region: operands are laid out [reduced, kept], and the region is applied
// to whole rows of kept elements.
absl::StatusOr<Literal> ReduceByRegion(Context& context,
                                       const Operation& operation) {
  const size_t count = operation.operands.size() / 2;
  const Shape& shape = operation.operands[0].shape();
  const DimensionVector& reduced = operation.attributes().dimensions;
  DimensionVector order = reduced;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (std::find(reduced.begin(), reduced.end(), d) == reduced.end()) {
      order.push_back(d);
    }
  }
  const DimensionVector strides = RowMajorStrides(shape.dimensions());
  DimensionVector sizes;
  DimensionVector source_strides;
  for (int64_t d : order) {
    sizes.push_back(shape.dimension(d));
    source_strides.push_back(strides[static_cast<size_t>(d)]);
  }
  int64_t steps = shape.num_elements() == 0 ? 0 : 1;
  for (int64_t d : reduced) steps *= shape.dimension(d);

  std::vector<Literal> operands;
  std::vector<Literal> results;
  int64_t kept = 1;
  for (size_t i = 0; i < count; ++i) {
    const Literal& operand = operation.operands[i];
    const ElementType type = operand.shape().element_type();
    const int64_t width = ByteWidth(type);
    HONE_ASSIGN_OR_RETURN(Literal packed,
                          context.Allocate(Shape::Array(type, sizes)));
    HONE_RETURN_IF_ERROR(
        StridedCopy(context, width, sizes, {operand.data(), source_strides},
                    {packed.MutableData(), RowMajorStrides(sizes)}));
    operands.push_back(std::move(packed));
    const ShapePtr& result_shape =
        operation.shape().IsTuple()
            ? operation.shape().tuple_element(static_cast<int64_t>(i))
            : operation.instruction.shape_ptr();
    HONE_ASSIGN_OR_RETURN(Literal result, context.Allocate(result_shape));
    kept = result.num_elements();
    HONE_RETURN_IF_ERROR(Fill(context, width,
                              operation.operands[count + i].data(),
                              result.MutableData(), kept));
    results.push_back(std::move(result));
  }
  Region region(context, operation.instruction.called()[0]);
  std::vector<ElementwiseProgram::Input> inputs(2 * count);
  std::vector<std::byte*> outputs(count);
  for (size_t i = 0; i < count; ++i) {
    outputs[i] = results[i].MutableData();
    inputs[i].data = outputs[i];
  }
  for (int64_t step = 0; step < steps; ++step) {
    for (size_t i = 0; i < count; ++i) {
      inputs[count + i].data =
          operands[i].data() +
          step * kept * ByteWidth(operands[i].shape().element_type());
    }
    HONE_RETURN_IF_ERROR(region.Apply(inputs, outputs, kept));
    if (step % 1024 == 0) HONE_RETURN_IF_ERROR(context.CheckDeadline());
  }
  if (operation.shape().IsTuple()) return Literal::Tuple(std::move(results));
  return std::move(results[0]);
}

}  // namespace

absl::StatusOr<Literal> EvaluateReduce(Context& context,
                                       const Operation& operation) {
  if (operation.operands.size() == 2 && !operation.shape().IsTuple()) {
    const std::optional<Opcode> opcode =
        SimpleReducer(context.module(), operation.instruction.called()[0]);
    if (opcode) return ReduceByOpcode(context, operation, *opcode);
  }
  return ReduceByRegion(context, operation);
}

}  // namespace hone::hlo::evaluator
