#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "hlo/evaluator/elementwise/arithmetic.h"
#include "hlo/evaluator/kernels.h"
#include "hlo/evaluator/kernels/gemm.h"
#include "hlo/evaluator/kernels/strided_copy.h"
#include "hlo/evaluator/kernels/window.h"
#include "hlo/evaluator/types.h"

// Both kinds of groups are the same computation over different dimensions:
// group g of the input is a slice of its features (feature groups) or of its
// batch (batch groups), and makes group g of the output features. So operands
// are first brought to
//
//   input [g, batch, spatial…, in]   kernel [g, window…, in, out]
//   output [g, batch, spatial…, out]
//
// and every group is a product of the matrix of input patches with the kernel.
// Where groups are thin (depthwise convolution and its gradients), g is moved
// innermost instead and the loops run over all groups at once.
//
// Padding is multiplied like elements, so that an infinite weight gives NaN
// there; in front of a dilated base it is left out, as are the holes: so does
// XLA:CPU (jax 0.10.2), where a dilated base has no feature groups. Products do
// the former, loops the latter, so weights that are not finite decide between
// the two. With others it is the same.

namespace hone::hlo::evaluator {
namespace {

constexpr int64_t kGrain = int64_t{1} << 19;
// Elements of a block of patches: about the second-level cache.
constexpr int64_t kPatchBlock = int64_t{1} << 16;

// The convolution in its canonical form.
struct Geometry {
  int64_t groups = 1;
  int64_t batch = 1;  // per group
  int64_t in = 1;     // input features per group
  int64_t out = 1;    // output features per group
  bool groups_innermost = false;
  DimensionVector input_size;  // spatial, as the window
  DimensionVector output_size;
  Window window;

  // See at the top; `out` and `in` are known.
  bool HasThinGroups() const {
    return groups > 1 && (out == 1 || in * out <= 4);
  }
  int64_t Positions() const { return Product(output_size); }
  int64_t Taps() const {
    int64_t taps = 1;
    for (const WindowDimension& w : window) taps *= w.size;
    return taps;
  }
};

Geometry MakeGeometry(const Operation& operation) {
  const ConvolutionDimensions& d = *operation.attributes().convolution;
  const Shape& input = operation.operands[0].shape();
  const Shape& kernel = operation.operands[1].shape();
  Geometry g;
  g.groups = std::max(d.feature_group_count, d.batch_group_count);
  g.batch = input.dimension(d.input_batch) / d.batch_group_count;
  g.in = kernel.dimension(d.kernel_input_feature);
  g.out = kernel.dimension(d.kernel_output_feature) / g.groups;
  for (int64_t s : d.input_spatial) g.input_size.push_back(input.dimension(s));
  for (int64_t s : d.output_spatial) {
    g.output_size.push_back(operation.shape().dimension(s));
  }
  if (operation.attributes().window != nullptr) {
    g.window = *operation.attributes().window;
  }
  return g;
}

bool IsFinite(const Literal& literal) {
  return DispatchType(literal.shape().element_type(), [&]<typename T>() {
    const absl::Span<const T> values = literal.values<T>();
    return std::all_of(values.begin(), values.end(), [](T value) {
      if constexpr (Complex<T>) {
        return std::isfinite(value.real()) && std::isfinite(value.imag());
      } else if constexpr (Floating<T>) {
        return std::isfinite(value);
      }
      return true;
    });
  });
}

// One dimension of a canonical form: its size and its stride in the operand.
struct CanonicalDimension {
  int64_t size;
  int64_t stride;
};

struct CanonicalView {
  std::vector<CanonicalDimension> dimensions;
  int64_t offset = 0;

  DimensionVector sizes() const {
    DimensionVector result;
    for (const auto& d : dimensions) result.push_back(d.size);
    return result;
  }
  DimensionVector strides() const {
    DimensionVector result;
    for (const auto& d : dimensions) result.push_back(d.stride);
    return result;
  }
};

void PlaceGroups(const Geometry& g, CanonicalDimension groups,
                 CanonicalView& view) {
  view.dimensions.insert(
      g.groups_innermost ? view.dimensions.end() : view.dimensions.begin(),
      groups);
}

CanonicalView InputView(const Geometry& g, const ConvolutionDimensions& d,
                        const Shape& shape) {
  const DimensionVector strides = RowMajorStrides(shape.dimensions());
  const int64_t batch = strides[static_cast<size_t>(d.input_batch)];
  const int64_t feature = strides[static_cast<size_t>(d.input_feature)];
  CanonicalView view;
  view.dimensions.push_back({g.batch, batch});
  for (int64_t s : d.input_spatial) {
    view.dimensions.push_back(
        {shape.dimension(s), strides[static_cast<size_t>(s)]});
  }
  view.dimensions.push_back({g.in, feature});
  PlaceGroups(
      g, {g.groups, d.batch_group_count > 1 ? g.batch * batch : g.in * feature},
      view);
  return view;
}

CanonicalView KernelView(const Geometry& g, const ConvolutionDimensions& d,
                         const Shape& shape) {
  const DimensionVector strides = RowMajorStrides(shape.dimensions());
  const int64_t out = strides[static_cast<size_t>(d.kernel_output_feature)];
  CanonicalView view;
  for (size_t i = 0; i < d.kernel_spatial.size(); ++i) {
    const size_t s = static_cast<size_t>(d.kernel_spatial[i]);
    const int64_t size = shape.dimensions()[s];
    if (g.window[i].reversal) {
      view.offset += (size - 1) * strides[s];
      view.dimensions.push_back({size, -strides[s]});
    } else {
      view.dimensions.push_back({size, strides[s]});
    }
  }
  view.dimensions.push_back(
      {g.in, strides[static_cast<size_t>(d.kernel_input_feature)]});
  view.dimensions.push_back({g.out, out});
  PlaceGroups(g, {g.groups, g.out * out}, view);
  return view;
}

CanonicalView OutputView(const Geometry& g, const ConvolutionDimensions& d,
                         const Shape& shape) {
  const DimensionVector strides = RowMajorStrides(shape.dimensions());
  const int64_t feature = strides[static_cast<size_t>(d.output_feature)];
  CanonicalView view;
  view.dimensions.push_back(
      {g.batch, strides[static_cast<size_t>(d.output_batch)]});
  for (int64_t s : d.output_spatial) {
    view.dimensions.push_back(
        {shape.dimension(s), strides[static_cast<size_t>(s)]});
  }
  view.dimensions.push_back({g.out, feature});
  PlaceGroups(g, {g.groups, g.out * feature}, view);
  return view;
}

// Returns true if the canonical form is how the array lies already.
bool IsDense(const CanonicalView& view) {
  const DimensionVector dense = RowMajorStrides(view.sizes());
  for (size_t i = 0; i < dense.size(); ++i) {
    if (view.dimensions[i].size != 1 && view.dimensions[i].stride != dense[i]) {
      return false;
    }
  }
  return true;
}

absl::StatusOr<Literal> Canonical(Context& context, Literal literal,
                                  const CanonicalView& view) {
  if (IsDense(view)) return literal;
  const int64_t width = ByteWidth(literal.shape().element_type());
  const DimensionVector sizes = view.sizes();
  HONE_ASSIGN_OR_RETURN(
      Literal result,
      context.Allocate(Shape::Array(literal.shape().element_type(), sizes)));
  HONE_RETURN_IF_ERROR(
      StridedCopy(context, width, sizes,
                  {literal.data() + view.offset * width, view.strides()},
                  {result.MutableData(), RowMajorStrides(sizes)}));
  return result;
}

// Writes the patch [taps, in] that an output position sees. Along the last
// dimension, taps that see neighboring elements are copied in one run.
template <typename T>
void CopyPatch(const Geometry& g, const T* image, const DimensionVector& output,
               size_t d, int64_t position, T*& patch) {
  const WindowDimension& w = g.window[d];
  const bool is_last = d + 1 == g.window.size();
  int64_t inner = g.in;
  for (size_t i = d + 1; i < g.window.size(); ++i) inner *= g.window[i].size;
  if (is_last && w.base_dilation == 1 && w.window_dilation == 1) {
    const int64_t start = output[d] * w.stride - w.padding_low;
    const int64_t low = std::clamp<int64_t>(-start, 0, w.size);
    const int64_t high =
        std::clamp<int64_t>(g.input_size[d] - start, low, w.size);
    patch = std::fill_n(patch, low * g.in, T{});
    if (high > low) {
      const T* from = image + (position * g.input_size[d] + start + low) * g.in;
      patch = std::copy_n(from, (high - low) * g.in, patch);
    }
    patch = std::fill_n(patch, (w.size - high) * g.in, T{});
    return;
  }
  for (int64_t k = 0; k < w.size; ++k) {
    const int64_t index = InputIndex(w, g.input_size[d], output[d], k);
    if (index < 0) {
      patch = std::fill_n(patch, inner, T{});
    } else if (is_last) {
      patch = std::copy_n(image + (position * g.input_size[d] + index) * g.in,
                          g.in, patch);
    } else {
      CopyPatch(g, image, output, d + 1, position * g.input_size[d] + index,
                patch);
    }
  }
}

// Returns true if the patches are the input itself: a 1×1 window over every
// element.
bool IsPointwise(const Geometry& g) {
  return g.input_size == g.output_size &&
         std::all_of(g.window.begin(), g.window.end(),
                     [](const WindowDimension& w) {
                       return w.size == 1 && w.stride == 1 &&
                              w.padding_low == 0 && w.base_dilation == 1;
                     });
}

template <typename T>
absl::Status ConvolveByGemm(Context& context, const Geometry& g, const T* input,
                            const T* kernel, T* output) {
  const int64_t positions = g.Positions();
  const int64_t pixels = Product(g.input_size);
  const int64_t depth = g.Taps() * g.in;
  const bool pointwise = IsPointwise(g);
  const int64_t rows = g.batch * positions;
  const int64_t block =
      std::clamp<int64_t>(kPatchBlock / std::max<int64_t>(depth, 1), 16, 4096);
  const int64_t work = std::max<int64_t>(depth * g.out, 1);
  for (int64_t group = 0; group < g.groups; ++group) {
    const T* image = input + group * g.batch * pixels * g.in;
    const T* weights = kernel + group * depth * g.out;
    T* result = output + group * rows * g.out;
    HONE_RETURN_IF_ERROR(context.ParallelFor(
        rows, std::max<int64_t>(kGrain / work, block),
        [&](int64_t begin, int64_t end) {
          if (pointwise) {
            Gemm<T>(end - begin, g.out, depth,
                    {image + begin * depth, depth, 1}, {weights, g.out, 1},
                    result + begin * g.out, g.out);
            return;
          }
          const auto patches = std::make_unique<T[]>(
              static_cast<size_t>(std::min(block, end - begin) * depth));
          DimensionVector position(g.output_size.size());
          for (int64_t at = begin; at < end; at += block) {
            const int64_t count = std::min(block, end - at);
            T* next = patches.get();
            for (int64_t row = at; row < at + count; ++row) {
              Unravel(row % positions, g.output_size, position);
              CopyPatch(g, image + row / positions * pixels * g.in, position, 0,
                        0, next);
            }
            Gemm<T>(count, g.out, depth, {patches.get(), depth, 1},
                    {weights, g.out, 1}, result + at * g.out, g.out);
          }
        }));
  }
  return absl::OkStatus();
}

// For thin groups: groups are innermost in all three arrays.
template <typename T>
absl::Status ConvolveAcrossGroups(Context& context, const Geometry& g,
                                  const T* input, const T* kernel, T* output) {
  const int64_t positions = g.Positions();
  const int64_t pixels = Product(g.input_size);
  const int64_t n = g.groups;
  const int64_t work = std::max<int64_t>(g.Taps() * g.in * g.out * n, 1);
  return context.ParallelFor(
      g.batch * positions, std::max<int64_t>(kGrain / work, 1),
      [&](int64_t begin, int64_t end) {
        DimensionVector position(g.output_size.size());
        for (int64_t row = begin; row < end; ++row) {
          const T* image = input + row / positions * pixels * g.in * n;
          T* result = output + row * g.out * n;
          std::fill_n(result, g.out * n, T{});
          Unravel(row % positions, g.output_size, position);
          VisitTaps(
              g.window, g.input_size, position,
              [&](int64_t tap, int64_t pixel) {
                for (int64_t i = 0; i < g.in; ++i) {
                  const T* x = image + (pixel * g.in + i) * n;
                  for (int64_t o = 0; o < g.out; ++o) {
                    const T* w = kernel + ((tap * g.in + i) * g.out + o) * n;
                    T* y = result + o * n;
                    HONE_VECTORIZE
                    for (int64_t j = 0; j < n; ++j) {
                      y[j] = Add::Apply(y[j], Multiply::Apply(x[j], w[j]));
                    }
                  }
                }
              });
        }
      });
}

}  // namespace

absl::StatusOr<Literal> EvaluateConvolution(Context& context,
                                            const Operation& operation) {
  const ConvolutionDimensions& d = *operation.attributes().convolution;
  if (operation.shape().num_elements() == 0) {
    return context.Allocate(operation.instruction.shape_ptr());
  }
  Geometry g = MakeGeometry(operation);
  const ElementType type = ComputeType(operation.shape().element_type());
  HONE_ASSIGN_OR_RETURN(
      Literal kernel, Convert(context, std::move(operation.operands[1]), type));
  g.groups_innermost =
      IsFinite(kernel) ? g.HasThinGroups() : HasBaseDilation(g.window);
  const CanonicalView input_view =
      InputView(g, d, operation.operands[0].shape());
  const CanonicalView kernel_view = KernelView(g, d, kernel.shape());
  const CanonicalView output_view = OutputView(g, d, operation.shape());
  HONE_ASSIGN_OR_RETURN(
      Literal input, Convert(context, std::move(operation.operands[0]), type));
  HONE_ASSIGN_OR_RETURN(input,
                        Canonical(context, std::move(input), input_view));
  HONE_ASSIGN_OR_RETURN(kernel,
                        Canonical(context, std::move(kernel), kernel_view));
  if (g.window.empty()) {
    // No spatial dimensions: one of size 1.
    g.window.emplace_back();
    g.input_size = {1};
    g.output_size = {1};
  }
  HONE_ASSIGN_OR_RETURN(Literal output, context.Allocate(Shape::Array(
                                            type, output_view.sizes())));
  HONE_RETURN_IF_ERROR(DispatchType(type, [&]<typename T>() {
    const T* x = input.values<T>().data();
    const T* w = kernel.values<T>().data();
    T* y = output.mutable_values<T>().data();
    return g.groups_innermost ? ConvolveAcrossGroups(context, g, x, w, y)
                              : ConvolveByGemm(context, g, x, w, y);
  }));
  const ShapePtr shape = WithElementType(operation.shape(), type);
  if (IsDense(output_view)) {
    output = output.Reshaped(shape);
  } else {
    HONE_ASSIGN_OR_RETURN(Literal result, context.Allocate(shape));
    const DimensionVector sizes = output_view.sizes();
    HONE_RETURN_IF_ERROR(
        StridedCopy(context, ByteWidth(type), sizes,
                    {output.data(), RowMajorStrides(sizes)},
                    {result.MutableData(), output_view.strides()}));
    output = std::move(result);
  }
  return Convert(context, std::move(output), operation.shape().element_type());
}

}  // namespace hone::hlo::evaluator
