#include <algorithm>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "hlo/evaluator/elementwise/arithmetic.h"
#include "hlo/evaluator/kernels.h"
#include "hlo/evaluator/kernels/strided_copy.h"
#include "hlo/evaluator/kernels/window.h"
#include "hlo/evaluator/region.h"
#include "hlo/evaluator/types.h"

// For every element of the source, the window over the operand selects one
// position (the first that `select` keeps against all that follow), and the
// source element is combined into the result there.

namespace hone::hlo::evaluator {
namespace {

// Trailing dimensions without a window are handled together, as rows.
struct Geometry {
  Window window;
  DimensionVector operand_size;
  DimensionVector source_size;
  int64_t row = 1;
};

Geometry MakeGeometry(const Operation& operation) {
  Geometry g;
  g.window = *operation.attributes().window;
  g.operand_size = operation.operands[0].shape().dimensions();
  g.source_size = operation.operands[1].shape().dimensions();
  while (!g.window.empty() && IsTrivial(g.window.back())) {
    g.row *= g.operand_size.back();
    g.window.pop_back();
    g.operand_size.pop_back();
    g.source_size.pop_back();
  }
  return g;
}

// select is a comparison, scatter is add.
template <typename T, typename Keeps>
absl::Status SelectAndAdd(Context& context, const Geometry& g, const T* operand,
                          const T* source, T* result, const Keeps& keeps) {
  DimensionVector position(g.source_size.size());
  std::vector<T> best(static_cast<size_t>(g.row));
  std::vector<int64_t> best_at(static_cast<size_t>(g.row));
  const int64_t rows = Product(g.source_size);
  for (int64_t s = 0; s < rows; ++s) {
    Unravel(s, g.source_size, position);
    bool first = true;
    VisitTaps(g.window, g.operand_size, position, [&](int64_t, int64_t at) {
      const T* candidate = operand + at * g.row;
      for (int64_t i = 0; i < g.row; ++i) {
        const size_t c = static_cast<size_t>(i);
        if (first || !keeps(best[c], candidate[i])) {
          best[c] = candidate[i];
          best_at[c] = at;
        }
      }
      first = false;
    });
    if (first) continue;
    for (int64_t i = 0; i < g.row; ++i) {
      T& target = result[best_at[static_cast<size_t>(i)] * g.row + i];
      target = Add::Apply(target, source[s * g.row + i]);
    }
    if (s % 1024 == 0) HONE_RETURN_IF_ERROR(context.CheckDeadline());
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status SelectAndAddTyped(Context& context, const Geometry& g,
                               ComparisonDirection direction,
                               const Literal& operand, const Literal& source,
                               Literal& result) {
  const T* x = operand.values<T>().data();
  const T* y = source.values<T>().data();
  T* out = result.mutable_values<T>().data();
  switch (direction) {
    case ComparisonDirection::kGe:
      return SelectAndAdd(context, g, x, y, out,
                          [](T a, T b) { return a >= b; });
    case ComparisonDirection::kGt:
      return SelectAndAdd(context, g, x, y, out,
                          [](T a, T b) { return a > b; });
    case ComparisonDirection::kLe:
      return SelectAndAdd(context, g, x, y, out,
                          [](T a, T b) { return a <= b; });
    case ComparisonDirection::kLt:
      return SelectAndAdd(context, g, x, y, out,
                          [](T a, T b) { return a < b; });
    case ComparisonDirection::kEq:
      return SelectAndAdd(context, g, x, y, out,
                          [](T a, T b) { return a == b; });
    case ComparisonDirection::kNe:
      return SelectAndAdd(context, g, x, y, out,
                          [](T a, T b) { return a != b; });
  }
  return absl::OkStatus();
}

absl::Status ByRegions(Context& context, const Operation& operation,
                       Literal& result) {
  const Window& window = *operation.attributes().window;
  const Literal& operand = operation.operands[0];
  const Literal& source = operation.operands[1];
  const int64_t width = ByteWidth(operand.shape().element_type());
  Region select(context, operation.instruction.called()[0]);
  Region scatter(context, operation.instruction.called()[1]);
  DimensionVector position(static_cast<size_t>(source.shape().rank()));
  absl::Status status;
  for (int64_t s = 0; s < source.num_elements(); ++s) {
    Unravel(s, source.shape().dimensions(), position);
    int64_t best = -1;
    VisitTaps(window, operand.shape().dimensions(), position,
              [&](int64_t, int64_t at) {
                bool keeps = false;
                auto* const keeps_out = reinterpret_cast<std::byte*>(&keeps);
                if (best >= 0) {
                  status.Update(select.Apply({{operand.data() + best * width},
                                              {operand.data() + at * width}},
                                             {&keeps_out, 1}, 1));
                }
                if (!keeps) best = at;
              });
    HONE_RETURN_IF_ERROR(status);
    if (best < 0) continue;
    std::byte* const target = result.MutableData() + best * width;
    HONE_RETURN_IF_ERROR(scatter.Apply({{target}, {source.data() + s * width}},
                                       {&target, 1}, 1));
    if (s % 1024 == 0) HONE_RETURN_IF_ERROR(context.CheckDeadline());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Literal> EvaluateSelectAndScatter(Context& context,
                                                 const Operation& operation) {
  const Literal& operand = operation.operands[0];
  const Literal& source = operation.operands[1];
  const ElementType type = operand.shape().element_type();
  HONE_ASSIGN_OR_RETURN(Literal result,
                        context.Allocate(operation.instruction.shape_ptr()));
  HONE_RETURN_IF_ERROR(Fill(context, ByteWidth(type),
                            operation.operands[2].data(), result.MutableData(),
                            result.num_elements()));
  if (source.num_elements() == 0) return result;
  const ComputationIds& called = operation.instruction.called();
  const auto comparison = SimpleComparator(context.module(), called[0]);
  const auto reducer = SimpleReducer(context.module(), called[1]);
  if (comparison && !comparison->total_order && reducer == Opcode::kAdd &&
      ComputeType(type) == type && !IsComplex(type)) {
    const Geometry g = MakeGeometry(operation);
    HONE_RETURN_IF_ERROR(DispatchType(type, [&]<typename T>() -> absl::Status {
      if constexpr (Complex<T>) {
        return absl::OkStatus();
      } else {
        return SelectAndAddTyped<T>(context, g, comparison->direction, operand,
                                    source, result);
      }
    }));
  } else {
    HONE_RETURN_IF_ERROR(ByRegions(context, operation, result));
  }
  return result;
}

}  // namespace hone::hlo::evaluator
