#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "hlo/evaluator/elementwise/arithmetic.h"
#include "hlo/evaluator/kernels.h"
#include "hlo/evaluator/region.h"
#include "hlo/evaluator/types.h"

namespace hone::hlo::evaluator {
namespace {

// The lines of an array along one dimension.
struct Lines {
  Lines(const Shape& shape, int64_t dimension)
      : size(shape.dimension(dimension)) {
    for (int64_t d = 0; d < dimension; ++d) outer *= shape.dimension(d);
    for (int64_t d = dimension + 1; d < shape.rank(); ++d) {
      stride *= shape.dimension(d);
    }
  }
  int64_t count() const { return outer * stride; }
  // The first element of line `i`; the others are `stride` apart.
  int64_t start(int64_t i) const {
    return i / stride * size * stride + i % stride;
  }

  int64_t outer = 1;
  int64_t size;
  int64_t stride = 1;
};

// A line's elements as they compare: by total order or by value.
template <typename T, bool kTotalOrder>
auto KeyOf(T x) {
  if constexpr (Floating<T> && kTotalOrder) {
    using S = std::make_signed_t<BitsOf<T>>;
    const S bits = std::bit_cast<S>(x);
    return static_cast<S>(
        bits ^ ((bits >> (sizeof(T) * 8 - 1)) & std::numeric_limits<S>::max()));
  } else {
    return x;
  }
}

template <typename T, bool kTotalOrder>
void SortKeys(const T* line, int64_t stride, bool descending,
              std::vector<int64_t>& order) {
  std::vector<decltype(KeyOf<T, kTotalOrder>(T{}))> keys;
  keys.reserve(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    keys.push_back(
        KeyOf<T, kTotalOrder>(line[static_cast<int64_t>(i) * stride]));
  }
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const auto x = keys[static_cast<size_t>(a)];
    const auto y = keys[static_cast<size_t>(b)];
    return descending ? x > y : x < y;
  });
}

using SortFn = void (*)(const std::byte* line, int64_t stride, bool descending,
                        std::vector<int64_t>& order);

// Sorts by one operand's value; null where the type has no order.
SortFn SortFnFor(ElementType type, bool total_order) {
  return DispatchType(type, [total_order]<typename T>() -> SortFn {
    if constexpr (Complex<T>) {
      return nullptr;
    } else if (total_order) {
      return [](const std::byte* line, int64_t stride, bool descending,
                std::vector<int64_t>& order) {
        SortKeys<T, true>(reinterpret_cast<const T*>(line), stride, descending,
                          order);
      };
    } else {
      return [](const std::byte* line, int64_t stride, bool descending,
                std::vector<int64_t>& order) {
        SortKeys<T, false>(reinterpret_cast<const T*>(line), stride, descending,
                           order);
      };
    }
  });
}

void Permute(const Literal& from, const Lines& lines, int64_t start,
             const std::vector<int64_t>& order, Literal& to) {
  DispatchWidth(ByteWidth(from.shape().element_type()), [&]<typename T>() {
    const T* x = from.values<T>().data() + start;
    T* out = to.mutable_values<T>().data() + start;
    for (size_t i = 0; i < order.size(); ++i) {
      out[static_cast<int64_t>(i) * lines.stride] = x[order[i] * lines.stride];
    }
  });
}

}  // namespace

absl::StatusOr<Literal> EvaluateSort(Context& context,
                                     const Operation& operation) {
  const absl::Span<Literal> operands = operation.operands;
  const Shape& shape = operands[0].shape();
  const Lines lines(shape, operation.attributes().dimensions.front());
  std::vector<Literal> results;
  std::vector<int64_t> widths;
  for (const Literal& operand : operands) {
    HONE_ASSIGN_OR_RETURN(Literal result,
                          context.Allocate(operand.shape_ptr()));
    results.push_back(std::move(result));
    widths.push_back(ByteWidth(operand.shape().element_type()));
  }
  const int64_t line_count = shape.num_elements() == 0 ? 0 : lines.count();
  const ComputationId comparator = operation.instruction.called()[0];
  const auto simple = SimpleComparator(context.module(), comparator);
  SortFn sort_keys = nullptr;
  if (simple && (simple->direction == ComparisonDirection::kLt ||
                 simple->direction == ComparisonDirection::kGt)) {
    const ElementType type = shape.element_type();
    if (ComputeType(type) == type) {
      sort_keys = SortFnFor(type, simple->total_order);
    }
  }
  Region region(context, comparator);
  std::vector<ElementwiseProgram::Input> inputs(2 * operands.size());
  absl::Status status;
  std::vector<int64_t> order(static_cast<size_t>(lines.size));
  for (int64_t line = 0; line < line_count; ++line) {
    const int64_t start = lines.start(line);
    std::iota(order.begin(), order.end(), 0);
    if (sort_keys != nullptr) {
      sort_keys(operands[0].data() + start * widths[0], lines.stride,
                simple->direction == ComparisonDirection::kGt, order);
    } else {
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        for (size_t i = 0; i < operands.size(); ++i) {
          const std::byte* const base = operands[i].data();
          inputs[2 * i].data = base + (start + a * lines.stride) * widths[i];
          inputs[2 * i + 1].data =
              base + (start + b * lines.stride) * widths[i];
        }
        bool before = false;
        auto* const out = reinterpret_cast<std::byte*>(&before);
        status.Update(region.Apply(inputs, {&out, 1}, 1));
        return before;
      });
      HONE_RETURN_IF_ERROR(status);
    }
    for (size_t i = 0; i < operands.size(); ++i) {
      Permute(operands[i], lines, start, order, results[i]);
    }
    HONE_RETURN_IF_ERROR(context.CheckDeadline());
  }
  if (operation.shape().IsTuple()) return Literal::Tuple(std::move(results));
  return std::move(results[0]);
}

namespace {

// Returns true if the shapes are those of a topk: the verifier does not look at
// the custom call that means the same.
bool IsTopKOf(const Shape& operand, const Shape& result) {
  if (!operand.IsArray() || operand.rank() == 0 || !result.IsTuple() ||
      result.tuple_elements().size() != 2) {
    return false;
  }
  const Shape& values = *result.tuple_element(0);
  const Shape& indices = *result.tuple_element(1);
  if (values.element_type() != operand.element_type() ||
      indices.element_type() != ElementType::kS32 ||
      values.dimensions() != indices.dimensions() ||
      values.rank() != operand.rank()) {
    return false;
  }
  DimensionVector expected = operand.dimensions();
  const int64_t k = values.dimensions().back();
  if (k > expected.back()) return false;
  expected.back() = k;
  return values.dimensions() == expected;
}

}  // namespace

// The k first elements of the sorted last dimension and their indices; equal
// ones by index.
absl::StatusOr<Literal> EvaluateTopK(Context& context,
                                     const Operation& operation) {
  if (!IsTopKOf(operation.operands[0].shape(), operation.shape())) {
    return UnimplementedError(operation.instruction, "the shape is unusual");
  }
  const ElementType type = operation.operands[0].shape().element_type();
  HONE_ASSIGN_OR_RETURN(
      const Literal operand,
      Convert(context, operation.operands[0], ComputeType(type)));
  const SortFn sort_keys = SortFnFor(ComputeType(type), true);
  if (sort_keys == nullptr) return UnimplementedError(operation.instruction);
  const Shape& shape = operand.shape();
  const Lines lines(shape, shape.rank() - 1);
  HONE_ASSIGN_OR_RETURN(Literal values,
                        context.Allocate(operation.shape().tuple_element(0)));
  HONE_ASSIGN_OR_RETURN(Literal indices,
                        context.Allocate(operation.shape().tuple_element(1)));
  const int64_t k = values.shape().dimensions().back();
  const int64_t width = ByteWidth(shape.element_type());
  const absl::Span<int32_t> out = indices.mutable_values<int32_t>();
  std::vector<int64_t> order(static_cast<size_t>(lines.size));
  const int64_t line_count = values.num_elements() == 0 ? 0 : lines.count();
  for (int64_t line = 0; line < line_count; ++line) {
    std::iota(order.begin(), order.end(), 0);
    sort_keys(operand.data() + lines.start(line) * width, 1,
              operation.attributes().largest, order);
    for (int64_t i = 0; i < k; ++i) {
      out[static_cast<size_t>(line * k + i)] =
          static_cast<int32_t>(order[static_cast<size_t>(i)]);
    }
    DispatchWidth(ByteWidth(type), [&]<typename T>() {
      const T* x = operation.operands[0].values<T>().data() + line * lines.size;
      T* to = values.mutable_values<T>().data() + line * k;
      for (int64_t i = 0; i < k; ++i) to[i] = x[order[static_cast<size_t>(i)]];
    });
    HONE_RETURN_IF_ERROR(context.CheckDeadline());
  }
  std::vector<Literal> results;
  results.push_back(std::move(values));
  results.push_back(std::move(indices));
  return Literal::Tuple(std::move(results));
}

}  // namespace hone::hlo::evaluator
