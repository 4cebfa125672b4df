#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "hlo/evaluator/kernels.h"
#include "hlo/evaluator/types.h"

namespace hone::hlo::evaluator {
namespace {

// An operand [outer, features, inner] as doubles: these instructions are
// expanded long before anything runs them, so precision comes before speed.
struct Geometry {
  Geometry(const Shape& shape, int64_t feature_index)
      : features(shape.dimension(feature_index)) {
    for (int64_t d = 0; d < feature_index; ++d) outer *= shape.dimension(d);
    for (int64_t d = feature_index + 1; d < shape.rank(); ++d) {
      inner *= shape.dimension(d);
    }
  }
  int64_t size() const { return outer * features * inner; }
  int64_t per_feature() const { return outer * inner; }
  size_t feature_of(int64_t i) const {
    return static_cast<size_t>(i / inner % features);
  }

  int64_t outer = 1;
  int64_t features;
  int64_t inner = 1;
};

std::vector<double> Values(const Literal& literal) {
  std::vector<double> values(static_cast<size_t>(literal.num_elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = literal.AsDouble(static_cast<int64_t>(i));
  }
  return values;
}

absl::StatusOr<Literal> ToLiteral(Context& context, const ShapePtr& shape,
                                  const std::vector<double>& values) {
  HONE_ASSIGN_OR_RETURN(Literal literal, context.Allocate(shape));
  for (size_t i = 0; i < values.size(); ++i) {
    literal.SetDouble(static_cast<int64_t>(i), values[i]);
  }
  return literal;
}

absl::StatusOr<Literal> ToTuple(
    Context& context, const Shape& shape,
    const std::vector<std::vector<double>>& values) {
  std::vector<Literal> elements;
  for (size_t i = 0; i < values.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(
        Literal element,
        ToLiteral(context, shape.tuple_element(static_cast<int64_t>(i)),
                  values[i]));
    elements.push_back(std::move(element));
  }
  return Literal::Tuple(std::move(elements));
}

std::vector<double> Normalize(const Geometry& g, const std::vector<double>& x,
                              const std::vector<double>& scale,
                              const std::vector<double>& offset,
                              const std::vector<double>& mean,
                              const std::vector<double>& variance,
                              double epsilon) {
  std::vector<double> out(x.size());
  for (int64_t i = 0; i < g.size(); ++i) {
    const size_t f = g.feature_of(i);
    const size_t at = static_cast<size_t>(i);
    out[at] = (x[at] - mean[f]) / std::sqrt(variance[f] + epsilon) * scale[f] +
              offset[f];
  }
  return out;
}

}  // namespace

// (operand, scale, offset) to (normalized, mean, variance) over the batch.
absl::StatusOr<Literal> EvaluateBatchNormTraining(Context& context,
                                                  const Operation& operation) {
  const Geometry g(operation.operands[0].shape(),
                   operation.attributes().feature_index);
  const std::vector<double> x = Values(operation.operands[0]);
  const size_t features = static_cast<size_t>(g.features);
  const double n = static_cast<double>(g.per_feature());
  // The mean of nothing is not a number.
  const double start = n == 0 ? std::numeric_limits<double>::quiet_NaN() : 0;
  std::vector<double> mean(features, start);
  std::vector<double> variance(features, start);
  for (int64_t i = 0; i < g.size(); ++i) {
    mean[g.feature_of(i)] += x[static_cast<size_t>(i)] / n;
  }
  for (int64_t i = 0; i < g.size(); ++i) {
    const size_t f = g.feature_of(i);
    const double d = x[static_cast<size_t>(i)] - mean[f];
    variance[f] += d * d / n;
  }
  const std::vector<double> out = Normalize(
      g, x, Values(operation.operands[1]), Values(operation.operands[2]), mean,
      variance, static_cast<double>(operation.attributes().epsilon));
  return ToTuple(context, operation.shape(), {out, mean, variance});
}

// (operand, scale, offset, mean, variance) to normalized.
absl::StatusOr<Literal> EvaluateBatchNormInference(Context& context,
                                                   const Operation& operation) {
  const Geometry g(operation.operands[0].shape(),
                   operation.attributes().feature_index);
  return ToLiteral(
      context, operation.instruction.shape_ptr(),
      Normalize(g, Values(operation.operands[0]), Values(operation.operands[1]),
                Values(operation.operands[2]), Values(operation.operands[3]),
                Values(operation.operands[4]),
                static_cast<double>(operation.attributes().epsilon)));
}

// (operand, scale, mean, variance, gradient of the output) to the gradients of
// (operand, scale, offset).
absl::StatusOr<Literal> EvaluateBatchNormGrad(Context& context,
                                              const Operation& operation) {
  const Geometry g(operation.operands[0].shape(),
                   operation.attributes().feature_index);
  const std::vector<double> x = Values(operation.operands[0]);
  const std::vector<double> scale = Values(operation.operands[1]);
  const std::vector<double> mean = Values(operation.operands[2]);
  const std::vector<double> variance = Values(operation.operands[3]);
  const std::vector<double> gradient = Values(operation.operands[4]);
  const double epsilon = static_cast<double>(operation.attributes().epsilon);
  const double n = static_cast<double>(g.per_feature());
  std::vector<double> scale_gradient(static_cast<size_t>(g.features));
  std::vector<double> offset_gradient(static_cast<size_t>(g.features));
  const auto normalized = [&](int64_t i) {
    const size_t f = g.feature_of(i);
    return (x[static_cast<size_t>(i)] - mean[f]) /
           std::sqrt(variance[f] + epsilon);
  };
  for (int64_t i = 0; i < g.size(); ++i) {
    const size_t f = g.feature_of(i);
    scale_gradient[f] += gradient[static_cast<size_t>(i)] * normalized(i);
    offset_gradient[f] += gradient[static_cast<size_t>(i)];
  }
  std::vector<double> operand_gradient(x.size());
  for (int64_t i = 0; i < g.size(); ++i) {
    const size_t f = g.feature_of(i);
    operand_gradient[static_cast<size_t>(i)] =
        scale[f] / std::sqrt(variance[f] + epsilon) *
        (gradient[static_cast<size_t>(i)] - offset_gradient[f] / n -
         normalized(i) * scale_gradient[f] / n);
  }
  return ToTuple(context, operation.shape(),
                 {operand_gradient, scale_gradient, offset_gradient});
}

}  // namespace hone::hlo::evaluator
