#include <algorithm>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "hlo/evaluator/kernels.h"
#include "hlo/evaluator/kernels/strided_copy.h"
#include "hlo/evaluator/types.h"

namespace hone::hlo::evaluator {
namespace {

// Copies the whole result from a strided view of the operand.
absl::StatusOr<Literal> CopyOut(Context& context, const Operation& operation,
                                const Literal& operand, int64_t offset,
                                DimensionVector strides) {
  HONE_ASSIGN_OR_RETURN(Literal result,
                        context.Allocate(operation.instruction.shape_ptr()));
  const int64_t width = ByteWidth(operand.shape().element_type());
  const DimensionVector& dimensions = result.shape().dimensions();
  HONE_RETURN_IF_ERROR(
      StridedCopy(context, width, dimensions,
                  {operand.data() + offset * width, std::move(strides)},
                  {result.MutableData(), RowMajorStrides(dimensions)}));
  return result;
}

// The start of a dynamic slice, clamped so that the slice lies inside.
// Indices are scalars, or one vector in old modules.
DimensionVector ClampedStarts(absl::Span<const Literal> indices,
                              const Shape& operand,
                              absl::Span<const int64_t> sizes) {
  DimensionVector starts(sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    const bool is_vector = indices[0].shape().rank() == 1;
    const Literal& index = is_vector ? indices[0] : indices[d];
    int64_t start = index.AsInt(is_vector ? static_cast<int64_t>(d) : 0);
    // A u64 beyond the range of int64_t is large, not negative.
    if (index.shape().element_type() == ElementType::kU64 && start < 0) {
      start = std::numeric_limits<int64_t>::max();
    }
    starts[d] = std::clamp<int64_t>(
        start, 0, operand.dimension(static_cast<int64_t>(d)) - sizes[d]);
  }
  return starts;
}

int64_t OffsetOf(const DimensionVector& starts,
                 const DimensionVector& strides) {
  int64_t offset = 0;
  for (size_t d = 0; d < starts.size(); ++d) offset += starts[d] * strides[d];
  return offset;
}

// Elements to step in memory for one step in each dimension, by the layout.
DimensionVector LayoutStrides(const Shape& shape) {
  if (shape.layout() == nullptr) return RowMajorStrides(shape.dimensions());
  DimensionVector strides(static_cast<size_t>(shape.rank()), 0);
  int64_t stride = 1;
  for (int64_t d : shape.layout()->minor_to_major) {
    strides[static_cast<size_t>(d)] = stride;
    stride *= shape.dimension(d);
  }
  return strides;
}

// Returns true if bits other than 0 and 1 may become a pred's.
bool MakesPred(ElementType from, ElementType to) {
  return to == ElementType::kPred && from != to;
}

bool IsTiled(const Shape& shape) {
  return shape.layout() != nullptr && !shape.layout()->suffix.empty();
}

}  // namespace

// Reads the operand's memory, which lies as its layout says, as that of the
// result.
absl::StatusOr<Literal> EvaluateBitcast(Context& context,
                                        const Operation& operation) {
  const Literal& operand = operation.operands[0];
  const Shape& from = operand.shape();
  const Shape& shape = operation.shape();
  if (!from.IsArray() || shape.byte_size() != from.byte_size()) {
    return UnimplementedError(operation.instruction, "the size changes");
  }
  const bool is_sub_byte = BitWidth(from.element_type()) < 8 &&
                           from.element_type() != shape.element_type();
  if (is_sub_byte) {
    return UnimplementedError(operation.instruction,
                              "elements are smaller than a byte");
  }
  if (MakesPred(from.element_type(), shape.element_type())) {
    return UnimplementedError(operation.instruction, "bits become pred");
  }
  const ShapePtr& given = operation.operand_shape != nullptr
                              ? operation.operand_shape
                              : operand.shape_ptr();
  if (given->layout() == nullptr && shape.layout() == nullptr) {
    return operand.Reshaped(operation.instruction.shape_ptr());
  }
  if (IsTiled(*given) || IsTiled(shape)) {
    return UnimplementedError(operation.instruction, "the layout is tiled");
  }
  HONE_ASSIGN_OR_RETURN(Literal memory, context.Allocate(given));
  HONE_RETURN_IF_ERROR(StridedCopy(
      context, ByteWidth(given->element_type()), given->dimensions(),
      {operand.data(), RowMajorStrides(given->dimensions())},
      {memory.MutableData(), LayoutStrides(*given)}));
  HONE_ASSIGN_OR_RETURN(Literal result,
                        context.Allocate(operation.instruction.shape_ptr()));
  HONE_RETURN_IF_ERROR(
      StridedCopy(context, ByteWidth(shape.element_type()), shape.dimensions(),
                  {memory.data(), LayoutStrides(shape)},
                  {result.MutableData(), RowMajorStrides(shape.dimensions())}));
  return result;
}

absl::StatusOr<Literal> EvaluateReshape(Context&, const Operation& operation) {
  if (operation.shape().byte_size() != operation.operands[0].byte_size()) {
    return UnimplementedError(operation.instruction, "the size changes");
  }
  return operation.operands[0].Reshaped(operation.instruction.shape_ptr());
}

absl::StatusOr<Literal> EvaluateBroadcast(Context& context,
                                          const Operation& operation) {
  const Literal& operand = operation.operands[0];
  const DimensionVector operand_strides =
      RowMajorStrides(operand.shape().dimensions());
  DimensionVector strides(static_cast<size_t>(operation.shape().rank()), 0);
  const DimensionVector& mapping = operation.attributes().dimensions;
  for (size_t i = 0; i < mapping.size(); ++i) {
    // Dimensions of size 1 are stretched.
    if (operand.shape().dimensions()[i] != 1) {
      strides[static_cast<size_t>(mapping[i])] = operand_strides[i];
    }
  }
  return CopyOut(context, operation, operand, 0, std::move(strides));
}

absl::StatusOr<Literal> EvaluateTranspose(Context& context,
                                          const Operation& operation) {
  const Literal& operand = operation.operands[0];
  const DimensionVector operand_strides =
      RowMajorStrides(operand.shape().dimensions());
  DimensionVector strides;
  for (int64_t from : operation.attributes().dimensions) {
    strides.push_back(operand_strides[static_cast<size_t>(from)]);
  }
  return CopyOut(context, operation, operand, 0, std::move(strides));
}

absl::StatusOr<Literal> EvaluateReverse(Context& context,
                                        const Operation& operation) {
  const Literal& operand = operation.operands[0];
  DimensionVector strides = RowMajorStrides(operand.shape().dimensions());
  int64_t offset = 0;
  for (int64_t d : operation.attributes().dimensions) {
    int64_t& stride = strides[static_cast<size_t>(d)];
    offset += (operand.shape().dimension(d) - 1) * stride;
    stride = -stride;
  }
  return CopyOut(context, operation, operand, offset, std::move(strides));
}

absl::StatusOr<Literal> EvaluateSlice(Context& context,
                                      const Operation& operation) {
  const Literal& operand = operation.operands[0];
  DimensionVector strides = RowMajorStrides(operand.shape().dimensions());
  int64_t offset = 0;
  for (size_t d = 0; d < strides.size(); ++d) {
    const SliceDimension& slice = operation.attributes().slice[d];
    offset += slice.start * strides[d];
    strides[d] *= slice.stride;
  }
  return CopyOut(context, operation, operand, offset, std::move(strides));
}

absl::StatusOr<Literal> EvaluateDynamicSlice(Context& context,
                                             const Operation& operation) {
  const Literal& operand = operation.operands[0];
  const DimensionVector& sizes = operation.shape().dimensions();
  if (sizes.empty()) return std::move(operation.operands[0]);
  const DimensionVector starts =
      ClampedStarts(operation.operands.subspan(1), operand.shape(), sizes);
  DimensionVector strides = RowMajorStrides(operand.shape().dimensions());
  const int64_t offset = OffsetOf(starts, strides);
  return CopyOut(context, operation, operand, offset, std::move(strides));
}

absl::StatusOr<Literal> EvaluateDynamicUpdateSlice(Context& context,
                                                   const Operation& operation) {
  const Literal& update = operation.operands[1];
  if (operation.shape().rank() == 0) return std::move(operation.operands[1]);
  const int64_t width = ByteWidth(update.shape().element_type());
  Literal result;
  if (operation.operands[0].has_unique_data()) {
    result = std::move(operation.operands[0]);
  } else {
    const Literal& operand = operation.operands[0];
    HONE_ASSIGN_OR_RETURN(result,
                          context.Allocate(operation.instruction.shape_ptr()));
    HONE_RETURN_IF_ERROR(StridedCopy(context, width, {operand.num_elements()},
                                     {operand.data(), {1}},
                                     {result.MutableData(), {1}}));
  }
  const DimensionVector& sizes = update.shape().dimensions();
  const DimensionVector strides = RowMajorStrides(result.shape().dimensions());
  const DimensionVector starts =
      ClampedStarts(operation.operands.subspan(2), result.shape(), sizes);
  HONE_RETURN_IF_ERROR(StridedCopy(
      context, width, sizes, {update.data(), RowMajorStrides(sizes)},
      {result.MutableData() + OffsetOf(starts, strides) * width, strides}));
  return result;
}

absl::StatusOr<Literal> EvaluatePad(Context& context,
                                    const Operation& operation) {
  const Literal& operand = operation.operands[0];
  const Shape& shape = operation.shape();
  const int64_t width = ByteWidth(shape.element_type());
  HONE_ASSIGN_OR_RETURN(Literal result,
                        context.Allocate(operation.instruction.shape_ptr()));
  HONE_RETURN_IF_ERROR(Fill(context, width, operation.operands[1].data(),
                            result.MutableData(), result.num_elements()));
  // Element i of the operand lands on low + i·(interior + 1), unless negative
  // padding cuts it off.
  const DimensionVector source_strides =
      RowMajorStrides(operand.shape().dimensions());
  DimensionVector target_strides = RowMajorStrides(shape.dimensions());
  DimensionVector sizes;
  int64_t source_offset = 0;
  int64_t target_offset = 0;
  for (size_t d = 0; d < source_strides.size(); ++d) {
    const PaddingDimension& padding = operation.attributes().padding[d];
    const int64_t step = padding.interior + 1;
    const int64_t first =
        padding.low >= 0 ? 0 : (-padding.low + step - 1) / step;
    // One past the last that lands before the end.
    const int64_t room = shape.dimensions()[d] - padding.low;
    const int64_t last = std::min(operand.shape().dimensions()[d],
                                  room > 0 ? (room + step - 1) / step : 0);
    sizes.push_back(std::max<int64_t>(last - first, 0));
    source_offset += first * source_strides[d];
    target_offset += (padding.low + first * step) * target_strides[d];
    target_strides[d] *= step;
  }
  HONE_RETURN_IF_ERROR(StridedCopy(
      context, width, sizes,
      {operand.data() + source_offset * width, source_strides},
      {result.MutableData() + target_offset * width, target_strides}));
  return result;
}

absl::StatusOr<Literal> EvaluateConcatenate(Context& context,
                                            const Operation& operation) {
  HONE_ASSIGN_OR_RETURN(Literal result,
                        context.Allocate(operation.instruction.shape_ptr()));
  const int64_t dimension = operation.attributes().dimensions.front();
  const int64_t width = ByteWidth(result.shape().element_type());
  const DimensionVector strides = RowMajorStrides(result.shape().dimensions());
  int64_t at = 0;
  for (const Literal& operand : operation.operands) {
    const DimensionVector& sizes = operand.shape().dimensions();
    HONE_RETURN_IF_ERROR(StridedCopy(
        context, width, sizes, {operand.data(), RowMajorStrides(sizes)},
        {result.MutableData() +
             at * strides[static_cast<size_t>(dimension)] * width,
         strides}));
    at += operand.shape().dimension(dimension);
  }
  return result;
}

absl::StatusOr<Literal> EvaluateIota(Context& context,
                                     const Operation& operation) {
  HONE_ASSIGN_OR_RETURN(Literal result,
                        context.Allocate(operation.instruction.shape_ptr()));
  const Shape& shape = operation.shape();
  if (shape.num_elements() == 0) return result;
  const int64_t width = ByteWidth(shape.element_type());
  const int64_t dimension = operation.attributes().dimensions.front();
  const int64_t n = shape.dimension(dimension);
  // One run of the dimension, spread over the others.
  HONE_ASSIGN_OR_RETURN(
      Literal run, context.Allocate(Shape::Array(shape.element_type(), {n})));
  for (int64_t i = 0; i < n; ++i) run.SetInt(i, i);
  DimensionVector strides(static_cast<size_t>(shape.rank()), 0);
  strides[static_cast<size_t>(dimension)] = 1;
  HONE_RETURN_IF_ERROR(
      StridedCopy(context, width, shape.dimensions(), {run.data(), strides},
                  {result.MutableData(), RowMajorStrides(shape.dimensions())}));
  return result;
}

// Equal widths keep the elements; otherwise the last dimension is split or
// joined, lowest bits first, which is how the bytes lie already.
absl::StatusOr<Literal> EvaluateBitcastConvert(Context&,
                                               const Operation& operation) {
  const ElementType from = operation.operands[0].shape().element_type();
  const ElementType to = operation.shape().element_type();
  const bool is_sub_byte = BitWidth(from) < 8 || BitWidth(to) < 8;
  if (is_sub_byte && from != to) {
    return UnimplementedError(operation.instruction,
                              "elements are smaller than a byte");
  }
  if (MakesPred(from, to)) {
    return UnimplementedError(operation.instruction, "bits become pred");
  }
  if (operation.shape().byte_size() != operation.operands[0].byte_size()) {
    return UnimplementedError(operation.instruction, "the size changes");
  }
  return operation.operands[0].Reshaped(operation.instruction.shape_ptr());
}

}  // namespace hone::hlo::evaluator
