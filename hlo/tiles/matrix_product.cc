#include "hlo/tiles/matrix_product.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "absl/strings/match.h"

#include "hlo/tiles/register_layout.h"
#include "hlo/tiles/tiled_kernel.h"

namespace hone::hlo {
namespace {

double SizeOf(const Region& region, int64_t d) {
  return static_cast<double>(region.box[static_cast<size_t>(d)].size);
}

// f32 is rounded to bf16, unless more precision is asked for, which splits it
// into two or three parts; what is wider takes many.
double PassesOf(const Computation& computation, const Instruction& product) {
  int64_t bits = 0;
  for (const InstructionId operand : product.operands()) {
    const Shape* const shape = TiledShape(computation[operand]);
    if (shape == nullptr) continue;
    bits = std::max<int64_t>(bits, BitWidth(shape->element_type()));
  }
  if (bits > 32) return 24;
  if (bits < 32) return 1;
  const std::string* const precision =
      product.attributes().FindOther("operand_precision");
  if (precision == nullptr) return 1;
  if (absl::StrContains(*precision, "highest")) return 6;
  return absl::StrContains(*precision, "high") ? 3 : 1;
}

}  // namespace

MatrixProduct MatrixProductOfDot(const Computation& computation,
                                 const Instruction& dot,
                                 const IdMap<Region>& regions) {
  const DotDimensions& dimensions = *dot.attributes().dot;
  const Region& lhs = regions.at(dot.operand(0));
  const Region& out = regions.at(dot.id());
  MatrixProduct product = {.passes = PassesOf(computation, dot)};
  for (const int64_t d : dimensions.lhs_contracting) {
    product.k *= SizeOf(lhs, d);
  }
  const auto batches = static_cast<int64_t>(dimensions.lhs_batch.size());
  const int64_t rows = computation[dot.operand(0)].shape().rank() - batches -
                       static_cast<int64_t>(dimensions.lhs_contracting.size());
  for (int64_t d = 0; d < dot.shape().rank(); ++d) {
    double& size = d < batches          ? product.products
                   : d < batches + rows ? product.m
                                        : product.n;
    size *= SizeOf(out, d);
  }
  return product;
}

MatrixProduct MatrixProductOfConvolution(const Computation& computation,
                                         const Instruction& convolution,
                                         const IdMap<Region>& regions) {
  const ConvolutionDimensions& c = *convolution.attributes().convolution;
  const Region& weights = regions.at(convolution.operand(1));
  const Region& out = regions.at(convolution.id());
  MatrixProduct product = {.passes = PassesOf(computation, convolution)};
  product.k = SizeOf(weights, c.kernel_input_feature);
  product.m = SizeOf(out, c.output_batch);
  for (const int64_t d : c.output_spatial) product.m *= SizeOf(out, d);
  product.terms = WindowPositions(convolution);
  if (!c.input_spatial.empty()) {
    const auto row =
        static_cast<double>(convolution.attributes().window->back().size);
    const double together = std::min(row, std::floor(kLanes / product.k));
    if (together > 1) {
      product.positions = together;
      product.k *= together;
      product.terms = product.terms / row * std::ceil(row / together);
    }
  }
  const Interval features = out.box[static_cast<size_t>(c.output_feature)];
  const Interval groups = GroupsOf(convolution, features);
  product.products = static_cast<double>(groups.size);
  product.n = std::ceil(static_cast<double>(features.size) / product.products);
  return product;
}

double WindowPositions(const Instruction& instruction) {
  const Window* const window = instruction.attributes().window.get();
  if (window == nullptr) return 1;
  double positions = 1;
  for (const WindowDimension& d : *window) {
    positions *= static_cast<double>(std::max<int64_t>(d.size, 1));
  }
  return positions;
}

bool IsDepthwise(const Computation& computation,
                 const Instruction& convolution) {
  const ConvolutionDimensions& c = *convolution.attributes().convolution;
  return c.feature_group_count > 1 &&
         computation[convolution.operand(1)].shape().dimension(
             c.kernel_input_feature) == 1;
}

}  // namespace hone::hlo
