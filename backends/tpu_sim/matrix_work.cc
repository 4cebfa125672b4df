#include "backends/tpu_sim/matrix_work.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"

#include "hlo/tiles/register_layout.h"

namespace hone::backends {
namespace {

using hlo::Box;
using hlo::Instruction;
using hlo::Region;
using hlo::Shape;

constexpr double kArray = 128;

// `products` matrix products of m × k by k × n, all of the same size.
struct Product {
  double products = 1;
  double m = 1;
  double k = 1;
  double n = 1;
  // Products whose results are added.
  double terms = 1;
  // The first operand gives the weights, the second streams.
  bool is_exchanged = false;
};

// Passes through arrays of bf16 that operands of a type take: f32 is rounded,
// unless more precision is asked for, which splits it into two or three parts.
double Passes(const Instruction& instruction, hlo::ElementType type) {
  if (hlo::BitWidth(type) > 32) return 24;
  if (hlo::BitWidth(type) < 32) return 1;
  const std::string* const precision =
      instruction.attributes().FindOther("operand_precision");
  if (precision == nullptr) return 1;
  if (absl::StrContains(*precision, "highest")) return 6;
  return absl::StrContains(*precision, "high") ? 3 : 1;
}

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

InstructionWork WorkOfProduct(const Product& p, double passes, bool is_narrow,
                              const Tpu& tpu) {
  InstructionWork result;
  const double k_tiles = std::ceil(p.k / kArray);
  const double n_tiles = std::ceil(p.n / kArray);
  const double all = p.products * p.terms;
  const double rows = std::ceil(p.m / hlo::kSublanes);
  result.work[Unit::kMatrix] = passes * MatrixCycles(p, tpu);
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
  const double pops =
      tpu.matrix_accumulates ? outputs : outputs * k_tiles * p.terms;
  result.work[Unit::kAlu] += passes * (pops - outputs);
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

double SizeOf(const Box& box, int64_t d) {
  return d < 0 ? 1 : static_cast<double>(box[static_cast<size_t>(d)].size);
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
  const Region& a = regions.at(lhs.id());
  const Region& b = regions.at(rhs.id());
  const Region& out = regions.at(instruction.id());
  Product product;
  for (const int64_t d : dot.lhs_contracting) product.k *= SizeOf(a.box, d);
  const int64_t batches = static_cast<int64_t>(dot.lhs_batch.size());
  const int64_t rows = lhs.shape().rank() - batches -
                       static_cast<int64_t>(dot.lhs_contracting.size());
  for (int64_t d = 0; d < instruction.shape().rank(); ++d) {
    double& size = d < batches          ? product.products
                   : d < batches + rows ? product.m
                                        : product.n;
    size *= SizeOf(out.box, d);
  }
  product = Oriented(product, tpu);
  InstructionWork result =
      WorkOfProduct(product, Passes(instruction, lhs.shape().element_type()),
                    IsNarrow(lhs.shape()) && IsNarrow(rhs.shape()), tpu);
  // The arrays take weights either way round, but rows stream with their terms
  // along lanes.
  result.work[Unit::kCrossLane] +=
      product.is_exchanged ? Transposition(rhs.shape(), b, dot.rhs_contracting)
                           : Transposition(lhs.shape(), a, dot.lhs_contracting);
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
  const Region& w = regions.at(weights.id());
  Product product;
  product.k = SizeOf(w.box, c.kernel_input_feature);
  product.m = SizeOf(out.box, c.output_batch);
  bool is_shifted = false;
  const hlo::RegisterDimensions lanes =
      hlo::RegisterDimensionsOf(input.shape());
  for (size_t i = 0; i < c.output_spatial.size(); ++i) {
    const hlo::WindowDimension& window = (*instruction.attributes().window)[i];
    product.m *= SizeOf(out.box, c.output_spatial[i]);
    product.terms *= static_cast<double>(window.size);
    const bool moves = window.size > 1 || window.stride > 1;
    is_shifted |= moves && (c.input_spatial[i] == lanes.sublane ||
                            c.input_spatial[i] == lanes.lane);
  }
  // Few input features of neighbouring positions fill an array together, as far
  // as one row of the window goes.
  if (!c.input_spatial.empty()) {
    const double row =
        static_cast<double>(instruction.attributes().window->back().size);
    const double together = std::min(row, std::floor(kArray / product.k));
    if (together > 1) {
      product.k *= together;
      product.terms = product.terms / row * std::ceil(row / together);
      is_shifted = true;
    }
  }
  const double features = SizeOf(out.box, c.output_feature);
  const auto per_group = static_cast<double>(
      std::max<int64_t>(1, instruction.shape().dimension(c.output_feature) /
                               std::max<int64_t>(1, c.feature_group_count)));
  product.products = std::ceil(features / per_group);
  product.n = std::min(features, per_group);
  const auto registers = static_cast<double>(
      hlo::RegisterCount(instruction.shape(), out.box, /*packed=*/false));
  InstructionWork result;
  if (c.feature_group_count > 1 &&
      weights.shape().dimension(c.kernel_input_feature) == 1) {
    result.work[Unit::kAlu] = 2 * product.terms * registers;
    result.work[Unit::kLoad] = product.terms * registers;
    result.work[Unit::kStore] = registers;
  } else {
    product = Oriented(product, tpu);
    result = WorkOfProduct(
        product, Passes(instruction, input.shape().element_type()),
        IsNarrow(input.shape()) && IsNarrow(weights.shape()), tpu);
    if (!product.is_exchanged) {
      result.work[Unit::kCrossLane] +=
          Transposition(input.shape(), in, {c.input_feature});
    }
  }
  // Rows that the window moves by less than a register are rotated.
  if (is_shifted) {
    result.work[Unit::kCrossLane] +=
        std::sqrt(product.terms) * static_cast<double>(hlo::RegisterCount(
                                       input.shape(), in.box, /*packed=*/true));
  }
  return result;
}

}  // namespace hone::backends
