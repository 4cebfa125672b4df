#include <utility>

#include "absl/algorithm/container.h"

#include "base/status_macros.h"
#include "hlo/inference/internal.h"

namespace hone::hlo::inference {
namespace {

// Operand i is a floating-point or complex array of at least `rank`
// dimensions.
absl::Status ExpectMatrices(const Context& context, size_t i) {
  const Shape& shape = context.operand(i);
  if (shape.rank() >= 2 &&
      (IsFloat(shape.element_type()) || IsComplex(shape.element_type()))) {
    return absl::OkStatus();
  }
  return Invalid("operand ", i, " is ", shape.ToString(),
                 ", expected floating-point or complex matrices");
}

absl::Status ExpectSquare(const Context& context, size_t i) {
  const Shape& shape = context.operand(i);
  if (shape.dimension(shape.rank() - 1) == shape.dimension(shape.rank() - 2)) {
    return absl::OkStatus();
  }
  return Invalid("operand ", i, " is ", shape.ToString(),
                 ", expected square matrices");
}

// The value of an attribute that is kept as text; empty when absent.
absl::string_view Other(const Context& context, absl::string_view name) {
  const std::string* text = context.attributes().FindOther(name);
  return text == nullptr ? absl::string_view() : *text;
}

}  // namespace

Result InferBatchNorm(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArrays(context));
  const Shape& operand = context.operand(0);
  const int64_t feature = context.attributes().feature_index;
  if (!IsFloat(operand.element_type())) {
    return Invalid("operand 0 is ", operand.ToString(),
                   ", expected a floating-point array");
  }
  if (feature < 0 || feature >= operand.rank()) {
    return Invalid("feature_index=", feature, ", expected a dimension below ",
                   operand.rank());
  }
  // grad_output has the operand's shape; all others have an element per
  // feature.
  const bool is_grad = context.opcode() == Opcode::kBatchNormGrad;
  for (size_t i = 1; i < context.operand_count(); ++i) {
    HONE_RETURN_IF_ERROR(ExpectType(context, i, operand.element_type()));
    if (is_grad && i == 4) {
      HONE_RETURN_IF_ERROR(ExpectSameSizes(context, 0, i));
      continue;
    }
    HONE_RETURN_IF_ERROR(ExpectRank(context, i, 1));
    if (context.operand(i).dimension(0) != operand.dimension(feature)) {
      return Invalid("operand ", i, " is ", context.operand(i).ToString(),
                     ", expected ", operand.dimension(feature), " elements");
    }
  }
  if (context.opcode() == Opcode::kBatchNormInference) {
    return PreferGiven(context, context.operand_ptr(0));
  }
  return TupleOrSingle(context, {context.operand_ptr(0), context.operand_ptr(1),
                                 context.operand_ptr(1)});
}

Result InferCholesky(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectMatrices(context, 0));
  HONE_RETURN_IF_ERROR(ExpectSquare(context, 0));
  return PreferGiven(context, context.operand_ptr(0));
}

Result InferTriangularSolve(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectMatrices(context, 0));
  HONE_RETURN_IF_ERROR(ExpectMatrices(context, 1));
  HONE_RETURN_IF_ERROR(ExpectSquare(context, 0));
  const Shape& a = context.operand(0);
  const Shape& b = context.operand(1);
  HONE_RETURN_IF_ERROR(ExpectType(context, 1, a.element_type()));
  HONE_RETURN_IF_ERROR(ExpectRank(context, 1, a.rank()));
  const bool left_side = Other(context, "left_side") == "true";
  const int64_t solved = b.rank() - (left_side ? 2 : 1);
  bool fits = b.dimension(solved) == a.dimension(a.rank() - 1);
  for (int64_t d = 0; d < a.rank() - 2; ++d) {
    fits = fits && a.dimension(d) == b.dimension(d);
  }
  if (!fits) {
    return Invalid("triangular solve of ", a.ToString(), " and ", b.ToString(),
                   ", expected equal batch dimensions and dimension ", solved,
                   " of the size of the matrix");
  }
  return PreferGiven(context, context.operand_ptr(1));
}

Result InferFft(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArray(context, 0));
  const Shape& operand = context.operand(0);
  // dimensions holds fft_length.
  const DimensionVector& lengths = context.dimensions();
  const absl::string_view type = Other(context, "fft_type");
  const int64_t first = operand.rank() - static_cast<int64_t>(lengths.size());
  if (lengths.empty() || lengths.size() > 3 || first < 0) {
    return Invalid("fft_length has ", lengths.size(), " entries for ",
                   operand.ToString(),
                   ", expected 1 to 3, no more than its dimensions");
  }
  const bool from_real = type == "RFFT";
  const bool to_real = type == "IRFFT";
  if (!from_real && !to_real && type != "FFT" && type != "IFFT") {
    return Invalid("fft_type=", type, ", expected FFT, IFFT, RFFT or IRFFT");
  }
  const ElementType in = operand.element_type();
  const bool is_double = in == ElementType::kF64 || in == ElementType::kC128;
  const ElementType real = is_double ? ElementType::kF64 : ElementType::kF32;
  const ElementType complex =
      is_double ? ElementType::kC128 : ElementType::kC64;
  HONE_RETURN_IF_ERROR(ExpectType(context, 0, from_real ? real : complex));
  DimensionVector sizes = operand.dimensions();
  for (size_t i = 0; i < lengths.size(); ++i) {
    const bool last = i + 1 == lengths.size();
    const int64_t half = lengths[i] / 2 + 1;
    int64_t& size = sizes[Index(first) + i];
    // For a real result, only half of the spectrum is given.
    const int64_t expected = to_real && last ? half : lengths[i];
    if (lengths[i] < 1 || size != expected) {
      return Invalid("fft_length ", lengths[i], " over ", operand.ToString(),
                     ", expected dimension ", Index(first) + i, " of size ",
                     expected);
    }
    if (last && from_real) size = half;
    if (last && to_real) size = lengths[i];
  }
  return ArrayOf(context, to_real ? real : complex, sizes);
}

Result InferTopK(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArray(context, 0));
  const Shape& operand = context.operand(0);
  const int64_t k = context.attributes().k;
  if (operand.rank() == 0 || k < 0 || k > operand.dimensions().back()) {
    return Invalid("k=", k, " of ", operand.ToString(),
                   ", expected 0 to the size of its last dimension");
  }
  DimensionVector sizes = operand.dimensions();
  sizes.back() = k;
  return TupleOrSingle(context, {Shape::Array(operand.element_type(), sizes),
                                 Shape::Array(ElementType::kS32, sizes)});
}

Result InferRngBitGenerator(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArray(context, 0));
  const ShapePtr& given = context.given();
  if (given == nullptr) {
    return Invalid("no shape, expected one: operands do not determine it");
  }
  if (!given->IsTuple() || given->tuple_elements().size() != 2 ||
      !Compatible(*given->tuple_element(0), context.operand(0)) ||
      !IsIntegral(given->tuple_element(1)->element_type())) {
    return Invalid("shape ", given->ToString(), ", expected a tuple of ",
                   context.operand(0).ToString(), " and an integral array");
  }
  return given;
}

}  // namespace hone::hlo::inference
