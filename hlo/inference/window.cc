#include <algorithm>

#include "absl/numeric/int128.h"

#include "base/status_macros.h"
#include "hlo/inference/internal.h"

namespace hone::hlo::inference {
namespace {

absl::StatusOr<int64_t> WindowedSize(const WindowDimension& w, int64_t size) {
  if (w.size < 1 || w.stride < 1 || w.window_dilation < 1 ||
      w.base_dilation < 1) {
    return Invalid("window size ", w.size, ", stride ", w.stride,
                   ", rhs_dilate ", w.window_dilation, ", lhs_dilate ",
                   w.base_dilation, ", expected each to be at least 1");
  }
  const auto dilated = [](int64_t n, int64_t dilation) {
    return n == 0 ? absl::int128(0) : absl::int128(n - 1) * dilation + 1;
  };
  const absl::int128 room =
      dilated(size, w.base_dilation) + w.padding_low + w.padding_high;
  const absl::int128 extent = dilated(w.size, w.window_dilation);
  if (room < 0 || room > INT64_MAX || extent > INT64_MAX) {
    return Invalid("window over ", size, " elements with padding ",
                   w.padding_low, "_", w.padding_high,
                   ", expected a size of at least 0 that does not overflow");
  }
  if (extent > room) return 0;
  return static_cast<int64_t>((room - extent) / w.stride + 1);
}

absl::Status ExpectWindow(const Context& context) {
  if (context.attributes().window != nullptr) return absl::OkStatus();
  return Invalid("no window, expected one");
}

// Returns true if (a, b, rest…) names each of `rank` dimensions once.
absl::Status ExpectAllDimensions(absl::string_view name, int64_t a, int64_t b,
                                 DimensionVector rest, int64_t rank) {
  rest.push_back(a);
  rest.push_back(b);
  HONE_RETURN_IF_ERROR(ExpectCount(name, rest.size(), Index(rank)));
  return ExpectDistinct(name, rest, rank);
}

absl::Status ExpectDivides(absl::string_view count_name, int64_t count,
                           absl::string_view what, int64_t size) {
  if (count >= 1 && size % count == 0) return absl::OkStatus();
  return Invalid(count_name, "=", count, ", expected a divisor of ", what, ", ",
                 size);
}

}  // namespace

absl::StatusOr<DimensionVector> WindowedSizes(const Window& window,
                                              absl::Span<const int64_t> sizes) {
  HONE_RETURN_IF_ERROR(ExpectCount("window", window.size(), sizes.size()));
  DimensionVector result;
  for (size_t i = 0; i < sizes.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const int64_t size,
                          WindowedSize(window[i], sizes[i]));
    result.push_back(size);
  }
  return result;
}

Result InferConvolution(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArrays(context));
  if (context.attributes().convolution == nullptr) {
    return Invalid("convolution without dim_labels, expected them");
  }
  const ConvolutionDimensions& c = *context.attributes().convolution;
  const Shape& input = context.operand(0);
  const Shape& kernel = context.operand(1);
  const size_t spatial = c.input_spatial.size();
  const int64_t rank = input.rank();
  HONE_RETURN_IF_ERROR(ExpectRank(context, 1, rank));
  HONE_RETURN_IF_ERROR(ExpectAllDimensions("dim_labels of the input",
                                           c.input_batch, c.input_feature,
                                           c.input_spatial, rank));
  HONE_RETURN_IF_ERROR(
      ExpectAllDimensions("dim_labels of the kernel", c.kernel_input_feature,
                          c.kernel_output_feature, c.kernel_spatial, rank));
  HONE_RETURN_IF_ERROR(ExpectAllDimensions("dim_labels of the output",
                                           c.output_batch, c.output_feature,
                                           c.output_spatial, rank));
  static const Window* const no_window = new Window;
  const Window& window = context.attributes().window == nullptr
                             ? *no_window
                             : *context.attributes().window;
  DimensionVector base;
  for (int64_t d : c.input_spatial) base.push_back(input.dimension(d));
  HONE_ASSIGN_OR_RETURN(const DimensionVector windowed,
                        WindowedSizes(window, base));
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t size = kernel.dimension(c.kernel_spatial[i]);
    if (window[i].size != size) {
      return Invalid("window size ", window[i].size, " in spatial dimension ",
                     i, ", expected the kernel's ", size);
    }
  }
  const int64_t batch = input.dimension(c.input_batch);
  const int64_t input_features = input.dimension(c.input_feature);
  const int64_t output_features = kernel.dimension(c.kernel_output_feature);
  HONE_RETURN_IF_ERROR(ExpectDivides("feature_group_count",
                                     c.feature_group_count, "input features",
                                     input_features));
  HONE_RETURN_IF_ERROR(ExpectDivides("feature_group_count",
                                     c.feature_group_count, "output features",
                                     output_features));
  HONE_RETURN_IF_ERROR(ExpectDivides("batch_group_count", c.batch_group_count,
                                     "the batch", batch));
  HONE_RETURN_IF_ERROR(ExpectDivides("batch_group_count", c.batch_group_count,
                                     "output features", output_features));
  if (c.feature_group_count > 1 && c.batch_group_count > 1) {
    return Invalid("feature_group_count=", c.feature_group_count,
                   " and batch_group_count=", c.batch_group_count,
                   ", expected one of them to be 1");
  }
  if (kernel.dimension(c.kernel_input_feature) !=
      input_features / c.feature_group_count) {
    return Invalid("kernel ", kernel.ToString(), " over input ",
                   input.ToString(), ", expected ",
                   input_features / c.feature_group_count,
                   " input features of the kernel");
  }
  HONE_ASSIGN_OR_RETURN(const ElementType type, ProductType(context));
  DimensionVector sizes(Index(rank));
  sizes[Index(c.output_batch)] = batch / c.batch_group_count;
  sizes[Index(c.output_feature)] = output_features;
  for (size_t i = 0; i < spatial; ++i) {
    sizes[Index(c.output_spatial[i])] = windowed[i];
  }
  return ArrayOf(context, type, sizes);
}

Result InferReduceWindow(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArrays(context));
  HONE_RETURN_IF_ERROR(ExpectWindow(context));
  const size_t n = context.operand_count() / 2;
  HONE_RETURN_IF_ERROR(ExpectOperandCount(context, 2 * n));
  std::vector<ElementType> types;
  for (size_t i = 0; i < n; ++i) {
    const ElementType type = context.operand(i).element_type();
    types.push_back(type);
    HONE_RETURN_IF_ERROR(ExpectSameSizes(context, 0, i));
    HONE_RETURN_IF_ERROR(ExpectRank(context, n + i, 0));
    HONE_RETURN_IF_ERROR(ExpectType(context, n + i, type));
  }
  HONE_RETURN_IF_ERROR(ExpectReducer(context, 0, types));
  HONE_ASSIGN_OR_RETURN(const DimensionVector sizes,
                        WindowedSizes(*context.attributes().window,
                                      context.operand(0).dimensions()));
  if (n == 1) return ArrayOf(context, types[0], sizes);
  std::vector<ShapePtr> results;
  results.reserve(n);
  for (ElementType type : types) results.push_back(Shape::Array(type, sizes));
  return TupleOrSingle(context, std::move(results));
}

Result InferSelectAndScatter(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArrays(context));
  HONE_RETURN_IF_ERROR(ExpectWindow(context));
  const Shape& operand = context.operand(0);
  const ElementType type = operand.element_type();
  HONE_RETURN_IF_ERROR(ExpectType(context, 1, type));
  HONE_RETURN_IF_ERROR(ExpectRank(context, 2, 0));
  HONE_RETURN_IF_ERROR(ExpectType(context, 2, type));
  HONE_ASSIGN_OR_RETURN(const Computation* select, Callee(context, 0));
  const ShapePtr scalar = Shape::Scalar(type);
  HONE_RETURN_IF_ERROR(ExpectParameters("select", *select, {scalar, scalar}));
  const Shape& selected = (*select)[select->root()].shape();
  if (!selected.IsScalar() || selected.element_type() != ElementType::kPred) {
    return Invalid("select ", select->name(), " returns ", selected.ToString(),
                   ", expected pred[]");
  }
  HONE_RETURN_IF_ERROR(ExpectReducer(context, 1, {type}));
  HONE_ASSIGN_OR_RETURN(
      const DimensionVector sizes,
      WindowedSizes(*context.attributes().window, operand.dimensions()));
  if (context.operand(1).dimensions() != sizes) {
    return Invalid("source is ", context.operand(1).ToString(), ", expected ",
                   Shape(type, sizes).ToString());
  }
  return PreferGiven(context, context.operand_ptr(0));
}

}  // namespace hone::hlo::inference
