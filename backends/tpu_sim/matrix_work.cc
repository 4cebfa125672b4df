#include "backends/tpu_sim/matrix_work.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/algorithm/container.h"

#include "hlo/tiles/matrix_product.h"
#include "hlo/tiles/register_layout.h"

namespace hone::backends {
namespace {

using hlo::Instruction;
using hlo::Region;
using hlo::Shape;

constexpr double kArray = 128;

// The matrix unit's products.
struct Product : hlo::MatrixProduct {
  // The first operand gives the weights, the second streams.
  bool is_exchanged = false;
};

// The cycles of all arrays with the second operand as weights.
double MatrixCycles(const Product& p, const Tpu& tpu) {
  const double weights =
      p.products * p.terms * std::ceil(p.k / kArray) * std::ceil(p.n / kArray);
  const double rows = hlo::kSublanes * std::ceil(p.m / hlo::kSublanes);
  // The next weights are loaded while rows stream through.
  const double each =
      std::max(rows, static_cast<double>(tpu.weight_load_cycles));
  return std::ceil(weights / static_cast<double>(tpu.matrix_units)) * each;
}

// Exchanges the operands if that is faster.
Product Oriented(const Product& p, const Tpu& tpu) {
  Product exchanged = p;
  std::swap(exchanged.m, exchanged.n);
  exchanged.is_exchanged = true;
  return MatrixCycles(exchanged, tpu) < MatrixCycles(p, tpu) ? exchanged : p;
}

InstructionWork WorkOfProduct(const Product& p, bool is_narrow,
                              const Tpu& tpu) {
  InstructionWork result;
  const double k_tiles = std::ceil(p.k / kArray);
  const double n_tiles = std::ceil(p.n / kArray);
  const double all = p.products * p.terms;
  const double rows = std::ceil(p.m / hlo::kSublanes);
  result.work[Unit::kMatrix] = p.passes * MatrixCycles(p, tpu);
  // Registers of 32 bits that stream in, for each column of weights again, and
  // the weights.
  const double streamed = all * rows * k_tiles * n_tiles;
  const double weights = all * k_tiles * n_tiles * (kArray / hlo::kSublanes);
  const double packing = is_narrow ? 2 : 1;
  result.work[Unit::kLoad] = (streamed + weights) / packing;
  // Floats of 32 bits are rounded and packed on their way.
  if (!is_narrow) result.work[Unit::kAlu] += streamed + weights;
  // Results come out for each tile of terms, and are added up in registers, or,
  // if there are too many for them, in VMEM.
  const double outputs = p.products * rows * n_tiles;
  const double pops = tpu.matrix_accumulates
                          ? outputs
                          : outputs * std::max(k_tiles * p.terms, 1.0);
  result.work[Unit::kAlu] += p.passes * (pops - outputs);
  result.work[Unit::kStore] += outputs;
  if (rows > static_cast<double>(tpu.registers) / 2) {
    result.work[Unit::kLoad] += pops - outputs;
    result.work[Unit::kStore] += pops - outputs;
  }
  // They come out transposed then.
  if (p.is_exchanged) result.work[Unit::kCrossLane] += outputs;
  result.stall = static_cast<double>(tpu.matrix_latency);
  return result;
}

// The cross-lane work of an operand whose terms do not lie along lanes.
double Transposition(const Shape& shape, const Region& region,
                     absl::Span<const int64_t> terms) {
  const int64_t lane = hlo::RegisterDimensionsOf(shape).lane;
  if (lane < 0 || absl::c_linear_search(terms, lane)) return 0;
  return static_cast<double>(
      hlo::RegisterCount(shape, region.box, /*packed=*/true));
}

bool IsNarrow(const Shape& shape) {
  return hlo::BitWidth(shape.element_type()) <= 16;
}

}  // namespace

InstructionWork DotWork(const hlo::TiledKernel& kernel,
                        const hlo::IdMap<Region>& regions,
                        const Instruction& instruction, const Tpu& tpu) {
  const hlo::DotDimensions& dot = *instruction.attributes().dot;
  const Instruction& lhs = kernel.computation()[instruction.operand(0)];
  const Instruction& rhs = kernel.computation()[instruction.operand(1)];
  const Product product = Oriented(
      {hlo::MatrixProductOfDot(kernel.computation(), instruction, regions)},
      tpu);
  InstructionWork result = WorkOfProduct(
      product, IsNarrow(lhs.shape()) && IsNarrow(rhs.shape()), tpu);
  // The arrays take weights either way round, but rows stream with their terms
  // along lanes.
  result.work[Unit::kCrossLane] +=
      product.is_exchanged ? Transposition(rhs.shape(), regions.at(rhs.id()),
                                           dot.rhs_contracting)
                           : Transposition(lhs.shape(), regions.at(lhs.id()),
                                           dot.lhs_contracting);
  return result;
}

InstructionWork ConvolutionWork(const hlo::TiledKernel& kernel,
                                const hlo::IdMap<Region>& regions,
                                const Instruction& instruction,
                                const Tpu& tpu) {
  const hlo::ConvolutionDimensions& c = *instruction.attributes().convolution;
  const Instruction& input = kernel.computation()[instruction.operand(0)];
  const Instruction& weights = kernel.computation()[instruction.operand(1)];
  const Region& out = regions.at(instruction.id());
  const Region& in = regions.at(input.id());
  Product product = {hlo::MatrixProductOfConvolution(kernel.computation(),
                                                     instruction, regions)};
  // Few input features of neighboring positions fill an array together.
  bool is_shifted = product.positions > 1;
  const hlo::RegisterDimensions lanes =
      hlo::RegisterDimensionsOf(input.shape());
  for (size_t i = 0; i < c.output_spatial.size(); ++i) {
    const hlo::WindowDimension& window = (*instruction.attributes().window)[i];
    const bool moves = window.size > 1 || window.stride > 1;
    is_shifted |= moves && (c.input_spatial[i] == lanes.sublane ||
                            c.input_spatial[i] == lanes.lane);
  }
  const auto registers = static_cast<double>(
      hlo::RegisterCount(instruction.shape(), out.box, /*packed=*/false));
  const double positions = hlo::WindowPositions(instruction);
  InstructionWork result;
  if (hlo::IsDepthwise(kernel.computation(), instruction)) {
    result.work[Unit::kAlu] = 2 * positions * registers;
    result.work[Unit::kLoad] = positions * registers;
    result.work[Unit::kStore] = registers;
  } else {
    product = Oriented(product, tpu);
    result = WorkOfProduct(
        product, IsNarrow(input.shape()) && IsNarrow(weights.shape()), tpu);
    if (!product.is_exchanged) {
      result.work[Unit::kCrossLane] +=
          Transposition(input.shape(), in, {c.input_feature});
    }
  }
  // Rows that the window moves by less than a register are rotated.
  if (is_shifted) {
    result.work[Unit::kCrossLane] +=
        std::sqrt(positions) * static_cast<double>(hlo::RegisterCount(
                                   input.shape(), in.box, /*packed=*/true));
  }
  return result;
}

}  // namespace hone::backends
