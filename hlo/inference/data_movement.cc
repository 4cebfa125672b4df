#include <algorithm>

#include "absl/numeric/int128.h"

#include "base/status_macros.h"
#include "hlo/inference/internal.h"

namespace hone::hlo::inference {
namespace {

// The index operands from `first` on: a scalar per dimension of operand 0, or
// one vector of them, as old modules have.
absl::Status ExpectStartIndices(const Context& context, size_t first) {
  const int64_t rank = context.operand(0).rank();
  if (context.operand_count() == first + 1 &&
      context.operand(first).rank() == 1) {
    const Shape& vector = context.operand(first);
    if (IsIntegral(vector.element_type()) && vector.dimension(0) == rank) {
      return absl::OkStatus();
    }
    return Invalid("start indices are ", vector.ToString(),
                   ", expected a vector of ", rank, " integers");
  }
  HONE_RETURN_IF_ERROR(ExpectOperandCount(context, first + Index(rank)));
  for (size_t i = first; i < context.operand_count(); ++i) {
    HONE_RETURN_IF_ERROR(ExpectIndexScalar(context, i));
    HONE_RETURN_IF_ERROR(
        ExpectType(context, i, context.operand(first).element_type()));
  }
  return absl::OkStatus();
}

}  // namespace

Result InferBroadcast(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArray(context, 0));
  HONE_RETURN_IF_ERROR(ExpectGivenArray(context));
  const Shape& operand = context.operand(0);
  const Shape& result = *context.given();
  HONE_RETURN_IF_ERROR(ExpectCount("dimensions", context.dimensions().size(),
                                   Index(operand.rank())));
  HONE_RETURN_IF_ERROR(
      ExpectDistinct("dimensions", context.dimensions(), result.rank()));
  for (int64_t i = 0; i < operand.rank(); ++i) {
    const int64_t d = context.dimensions()[Index(i)];
    if (operand.dimension(i) != result.dimension(d)) {
      return Invalid("broadcast of ", operand.ToString(), " to ",
                     result.ToString(), ", expected dimension ", d, " to be ",
                     operand.dimension(i));
    }
  }
  return ArrayOf(context, operand.element_type(), result.dimensions());
}

Result InferReshape(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArray(context, 0));
  HONE_RETURN_IF_ERROR(ExpectGivenArray(context));
  const Shape& operand = context.operand(0);
  const Shape& result = *context.given();
  if (operand.num_elements() != result.num_elements()) {
    return Invalid("reshape of ", operand.ToString(), " to ", result.ToString(),
                   ", expected ", operand.num_elements(), " elements, not ",
                   result.num_elements());
  }
  return ArrayOf(context, operand.element_type(), result.dimensions());
}

Result InferBitcast(const Context& context) {
  if (context.given() == nullptr || !context.operand(0).IsArray()) {
    return context.given();
  }
  HONE_RETURN_IF_ERROR(ExpectGivenArray(context));
  const auto bits = [](const Shape& shape) {
    return absl::int128(shape.num_elements()) * BitWidth(shape.element_type());
  };
  const Shape& operand = context.operand(0);
  const Shape& result = *context.given();
  if (bits(operand) != bits(result)) {
    return Invalid("bitcast of ", operand.ToString(), " to ", result.ToString(),
                   ", expected equal sizes");
  }
  return context.given();
}

Result InferTranspose(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArray(context, 0));
  const Shape& operand = context.operand(0);
  HONE_RETURN_IF_ERROR(ExpectCount("dimensions", context.dimensions().size(),
                                   Index(operand.rank())));
  HONE_RETURN_IF_ERROR(
      ExpectDistinct("dimensions", context.dimensions(), operand.rank()));
  DimensionVector sizes;
  for (int64_t d : context.dimensions()) sizes.push_back(operand.dimension(d));
  return ArrayOf(context, operand.element_type(), sizes);
}

Result InferReverse(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArray(context, 0));
  HONE_RETURN_IF_ERROR(ExpectDistinct("dimensions", context.dimensions(),
                                      context.operand(0).rank()));
  return PreferGiven(context, context.operand_ptr(0));
}

Result InferSlice(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArray(context, 0));
  const Shape& operand = context.operand(0);
  const std::vector<SliceDimension>& slice = context.attributes().slice;
  HONE_RETURN_IF_ERROR(
      ExpectCount("slice", slice.size(), Index(operand.rank())));
  DimensionVector sizes;
  for (int64_t i = 0; i < operand.rank(); ++i) {
    const SliceDimension& s = slice[Index(i)];
    const int64_t size = operand.dimension(i);
    if (s.start < 0 || s.limit < s.start || s.limit > size || s.stride < 1) {
      return Invalid(
          "slice [", s.start, ":", s.limit, ":", s.stride, "] of dimension ", i,
          ", expected 0 <= start <= limit <= ", size, " and stride >= 1");
    }
    const int64_t length = s.limit - s.start;
    sizes.push_back(length / s.stride + (length % s.stride != 0 ? 1 : 0));
  }
  return ArrayOf(context, operand.element_type(), sizes);
}

Result InferDynamicSlice(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArrays(context));
  HONE_RETURN_IF_ERROR(ExpectStartIndices(context, 1));
  const Shape& operand = context.operand(0);
  HONE_RETURN_IF_ERROR(ExpectCount("dynamic_slice_sizes",
                                   context.dimensions().size(),
                                   Index(operand.rank())));
  for (int64_t i = 0; i < operand.rank(); ++i) {
    const int64_t size = context.dimensions()[Index(i)];
    const int64_t full = operand.dimension(i);
    if (size < 0 || size > full) {
      return Invalid("slice size ", size, " of dimension ", i,
                     ", expected 0 to ", full);
    }
  }
  return ArrayOf(context, operand.element_type(), context.dimensions());
}

Result InferDynamicUpdateSlice(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArrays(context));
  const Shape& operand = context.operand(0);
  const Shape& update = context.operand(1);
  HONE_RETURN_IF_ERROR(ExpectRank(context, 1, operand.rank()));
  HONE_RETURN_IF_ERROR(ExpectType(context, 1, operand.element_type()));
  HONE_RETURN_IF_ERROR(ExpectStartIndices(context, 2));
  for (int64_t i = 0; i < operand.rank(); ++i) {
    if (update.dimension(i) > operand.dimension(i)) {
      return Invalid("update ", update.ToString(), " of ", operand.ToString(),
                     ", expected it to be no larger in dimension ", i);
    }
  }
  return PreferGiven(context, context.operand_ptr(0));
}

Result InferPad(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArrays(context));
  const Shape& operand = context.operand(0);
  HONE_RETURN_IF_ERROR(ExpectRank(context, 1, 0));
  HONE_RETURN_IF_ERROR(ExpectType(context, 1, operand.element_type()));
  const std::vector<PaddingDimension>& padding = context.attributes().padding;
  HONE_RETURN_IF_ERROR(
      ExpectCount("padding", padding.size(), Index(operand.rank())));
  DimensionVector sizes;
  for (int64_t i = 0; i < operand.rank(); ++i) {
    const PaddingDimension& p = padding[Index(i)];
    const int64_t size = operand.dimension(i);
    if (p.interior < 0) {
      return Invalid("interior padding ", p.interior, " of dimension ", i,
                     ", expected at least 0");
    }
    const absl::int128 padded =
        absl::int128(size) + p.low + p.high +
        absl::int128(std::max<int64_t>(size - 1, 0)) * p.interior;
    if (padded < 0 || padded > INT64_MAX) {
      return Invalid("padding ", p.low, "_", p.high, "_", p.interior,
                     " of dimension ", i, " of ", operand.ToString(),
                     ", expected a size of at least 0 that does not overflow");
    }
    sizes.push_back(static_cast<int64_t>(padded));
  }
  return ArrayOf(context, operand.element_type(), sizes);
}

Result InferConcatenate(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArrays(context));
  const Shape& first = context.operand(0);
  HONE_RETURN_IF_ERROR(
      ExpectCount("dimensions", context.dimensions().size(), 1));
  HONE_RETURN_IF_ERROR(
      ExpectDistinct("dimensions", context.dimensions(), first.rank()));
  const size_t along = Index(context.dimensions()[0]);
  DimensionVector sizes = first.dimensions();
  for (size_t i = 1; i < context.operand_count(); ++i) {
    HONE_RETURN_IF_ERROR(ExpectRank(context, i, first.rank()));
    HONE_RETURN_IF_ERROR(ExpectType(context, i, first.element_type()));
    const DimensionVector& other = context.operand(i).dimensions();
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (d != along && other[d] != sizes[d]) {
        return Invalid("operand ", i, " is ", context.operand(i).ToString(),
                       ", expected the sizes of ", first.ToString(),
                       " in all dimensions but ", along);
      }
    }
    if (__builtin_add_overflow(sizes[along], other[along], &sizes[along])) {
      return Invalid("concatenation is too large, expected a size below 2^63");
    }
  }
  return ArrayOf(context, first.element_type(), sizes);
}

Result InferIota(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectGivenArray(context));
  const Shape& result = *context.given();
  if (result.element_type() == ElementType::kPred) {
    return Invalid("iota of ", result.ToString(), ", expected numbers");
  }
  HONE_RETURN_IF_ERROR(
      ExpectCount("iota_dimension", context.dimensions().size(), 1));
  HONE_RETURN_IF_ERROR(
      ExpectDistinct("iota_dimension", context.dimensions(), result.rank()));
  return context.given();
}

Result InferGetDimensionSize(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArray(context, 0));
  HONE_RETURN_IF_ERROR(
      ExpectCount("dimensions", context.dimensions().size(), 1));
  HONE_RETURN_IF_ERROR(ExpectDistinct("dimensions", context.dimensions(),
                                      context.operand(0).rank()));
  return ArrayOf(context, ElementType::kS32, {});
}

Result InferSetDimensionSize(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArrays(context));
  HONE_RETURN_IF_ERROR(
      ExpectCount("dimensions", context.dimensions().size(), 1));
  HONE_RETURN_IF_ERROR(ExpectDistinct("dimensions", context.dimensions(),
                                      context.operand(0).rank()));
  HONE_RETURN_IF_ERROR(ExpectRank(context, 1, 0));
  HONE_RETURN_IF_ERROR(ExpectType(context, 1, ElementType::kS32));
  return PreferGiven(context, context.operand_ptr(0));
}

}  // namespace hone::hlo::inference
