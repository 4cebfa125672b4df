#include "hlo/analysis/cost_analysis.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "hlo/analysis/stated_trip_count.h"

namespace hone::hlo {
namespace {

constexpr double kFlopsPerMultiplyAdd = 2;
constexpr double kPointerBytes = 8;
// Window positions that are tried one by one; see ValidPositions.
constexpr int64_t kMaxPositions = 1 << 16;

// The elements of an array, as a double because dimensions of a module from
// outside may be huge. A dimension without a bound counts as one.
double Elements(const Shape& shape) {
  if (!shape.IsArray()) return 0;
  double product = 1;
  for (int64_t d : shape.dimensions()) {
    if (d != Shape::kUnbounded) product *= static_cast<double>(d);
  }
  return product;
}

// Elements of all arrays in a shape.
double LeafElements(const Shape& shape) {
  if (!shape.IsTuple()) return Elements(shape);
  double sum = 0;
  for (const ShapePtr& element : shape.tuple_elements()) {
    sum += LeafElements(*element);
  }
  return sum;
}

// Bytes of an array, or of a tuple's table of pointers.
double Bytes(const Shape& shape) {
  if (shape.IsTuple()) {
    return kPointerBytes * static_cast<double>(shape.tuple_elements().size());
  }
  if (!shape.IsArray()) return 0;
  return Elements(shape) * static_cast<double>(ByteWidth(shape.element_type()));
}

// Bytes of all arrays in a shape.
double LeafBytes(const Shape& shape) {
  if (!shape.IsTuple()) return Bytes(shape);
  double sum = 0;
  for (const ShapePtr& element : shape.tuple_elements()) {
    sum += LeafBytes(*element);
  }
  return sum;
}

const Shape& FirstArray(const Shape& shape) {
  return shape.IsTuple() && !shape.tuple_elements().empty()
             ? *shape.tuple_element(0)
             : shape;
}

double WindowElements(const Instruction& instruction) {
  double product = 1;
  if (instruction.attributes().window == nullptr) return product;
  for (const WindowDimension& d : *instruction.attributes().window) {
    product *= static_cast<double>(d.size);
  }
  return product;
}

double DotFlops(const Shape& lhs, const Instruction& dot) {
  double width = 1;
  if (dot.attributes().dot != nullptr) {
    for (int64_t d : dot.attributes().dot->lhs_contracting) {
      width *= static_cast<double>(lhs.dimension(d));
    }
  }
  return kFlopsPerMultiplyAdd * Elements(dot.shape()) * width;
}

// Pairs of a kernel and an output position, in one spatial dimension, that meet
// an input element and neither padding nor a hole of the input's dilation.
// Where more than kMaxPositions would have to be tried, every pair counts as
// valid but for holes.
double ValidPositions(const WindowDimension& window, int64_t input,
                      int64_t output) {
  // Input index of kernel position k and output position o, dilated:
  // o * stride + k * dilation - padding. We walk over the shorter range and
  // count the longer one's in closed form.
  int64_t outer = window.size, outer_step = window.window_dilation;
  int64_t inner = output, inner_step = window.stride;
  if (outer > inner) {
    std::swap(outer, inner);
    std::swap(outer_step, inner_step);
  }
  const int64_t holes = window.base_dilation;
  const double all = static_cast<double>(outer) * static_cast<double>(inner);
  // Also keeps every product below within 64 bits.
  constexpr int64_t kMax = int64_t{1} << 30;
  const bool huge = inner > kMax || outer_step > kMax || inner_step > kMax ||
                    input > kMax || holes > kMax ||
                    std::abs(window.padding_low) > kMax;
  if (huge || outer > kMaxPositions || (holes > 1 && all > kMaxPositions)) {
    return all / static_cast<double>(std::max<int64_t>(holes, 1));
  }
  int64_t count = 0;
  for (int64_t i = 0; i < outer; ++i) {
    const int64_t offset = i * outer_step - window.padding_low;
    if (holes > 1) {
      for (int64_t j = 0; j < inner; ++j) {
        const int64_t index = offset + j * inner_step;
        if (index % holes == 0 && index >= 0 && index / holes < input) ++count;
      }
      continue;
    }
    // 0 ≤ offset + j * inner_step < input.
    const int64_t step = std::max<int64_t>(inner_step, 1);
    const int64_t first = offset >= 0 ? 0 : (-offset + step - 1) / step;
    const int64_t end =
        offset >= input ? 0 : std::min(inner, (input - 1 - offset) / step + 1);
    count += std::max<int64_t>(end - first, 0);
  }
  return static_cast<double>(count);
}

double ConvolutionFlops(const Shape& lhs, const Instruction& convolution) {
  const Attributes& attributes = convolution.attributes();
  if (attributes.convolution == nullptr) return 0;
  const ConvolutionDimensions& dims = *attributes.convolution;
  const Shape& result = convolution.shape();
  // Of one group.
  const int64_t features = lhs.dimension(dims.input_feature) /
                           std::max<int64_t>(dims.feature_group_count, 1);
  const int64_t batch = lhs.dimension(dims.input_batch) /
                        std::max<int64_t>(dims.batch_group_count, 1);
  double flops = kFlopsPerMultiplyAdd * static_cast<double>(features) *
                 static_cast<double>(result.dimension(dims.output_feature)) *
                 static_cast<double>(batch);
  if (attributes.window == nullptr) return flops;
  for (size_t i = 0; i < attributes.window->size(); ++i) {
    flops *= ValidPositions((*attributes.window)[i],
                            lhs.dimension(dims.input_spatial[i]),
                            result.dimension(dims.output_spatial[i]));
  }
  return flops;
}

Costs Max(const Costs& a, const Costs& b) {
  return {std::max(a.flops, b.flops),
          std::max(a.transcendentals, b.transcendentals),
          std::max(a.bytes_read, b.bytes_read),
          std::max(a.bytes_written, b.bytes_written)};
}

// The dimension that is `i`-th in memory, the fastest first.
int64_t MinorDimension(const Shape& shape, int64_t i) {
  return shape.layout() == nullptr
             ? shape.rank() - 1 - i
             : shape.layout()->minor_to_major[static_cast<size_t>(i)];
}

// Returns true if the layouts differ just as the dimensions do, so that no data
// moves.
bool TransposeMovesNothing(const Shape& operand, const Instruction& transpose) {
  for (int64_t i = 0; i < operand.rank(); ++i) {
    const int64_t d = MinorDimension(transpose.shape(), i);
    if (transpose.dimensions()[static_cast<size_t>(d)] !=
        MinorDimension(operand, i)) {
      return false;
    }
  }
  return true;
}

// Adds the cost of applying a region `times` times; its operands are in
// registers.
void AddApplications(const Costs& region, double times, Costs& costs) {
  costs.flops += region.flops * times;
  costs.transcendentals += region.transcendentals * times;
}

}  // namespace

Costs& Costs::operator+=(const Costs& other) {
  flops += other.flops;
  transcendentals += other.transcendentals;
  bytes_read += other.bytes_read;
  bytes_written += other.bytes_written;
  return *this;
}

Costs operator*(const Costs& costs, double times) {
  return {costs.flops * times, costs.transcendentals * times,
          costs.bytes_read * times, costs.bytes_written * times};
}

double KnownTripCount(const Instruction& instruction) {
  return StatedTripCount(instruction).value_or(1);
}

CostAnalysis::CostAnalysis(const Module& module)
    : module_(module),
      computations_(static_cast<size_t>(module.computation_slots())) {
  for (ComputationId id : module.ComputationPostOrder()) {
    const Computation& computation = module.computation(id);
    Costs& sum = computations_[static_cast<size_t>(id)];
    for (const Instruction& i : computation.instructions()) {
      sum += InstructionCosts(computation, i.id());
    }
  }
}

Costs CostAnalysis::InstructionCosts(const Computation& computation,
                                     InstructionId id) const {
  const Instruction& instruction = computation[id];
  const Shape& result = instruction.shape();
  const auto operand = [&](size_t i) -> const Shape& {
    return computation[instruction.operand(i)].shape();
  };
  const auto region = [&](size_t i) -> const Costs& {
    return ComputationCosts(instruction.called()[i]);
  };

  Costs costs;
  for (InstructionId o : instruction.operands()) {
    costs.bytes_read += Bytes(computation[o].shape());
  }
  costs.bytes_written = Bytes(result);

  const Opcode opcode = instruction.opcode();
  switch (opcode) {
    case Opcode::kAddDependency:
    case Opcode::kAfterAll:
    case Opcode::kBitcast:
    case Opcode::kConstant:
    case Opcode::kDomain:
    case Opcode::kGetTupleElement:
    case Opcode::kParameter:
      return {};
    case Opcode::kTuple:
      costs.bytes_read = 0;
      break;
    case Opcode::kSlice:
      costs.bytes_read = Bytes(result);
      break;
    case Opcode::kDynamicSlice:
      costs.bytes_read += Bytes(result) - Bytes(operand(0));
      break;
    case Opcode::kDynamicUpdateSlice:
      costs.bytes_read -= Bytes(operand(0));
      costs.bytes_written = Bytes(operand(1));
      break;
    case Opcode::kTranspose:
      if (TransposeMovesNothing(operand(0), instruction)) return {};
      break;
    case Opcode::kGather:
      costs.bytes_read = Bytes(result) + Bytes(operand(1));
      break;
    case Opcode::kScatter: {
      const size_t count = instruction.operand_count() / 2;
      double updates = 0;
      for (size_t i = 0; i < count; ++i)
        updates += Bytes(operand(count + 1 + i));
      costs.bytes_read = 2 * updates + Bytes(operand(count));
      costs.bytes_written = updates;
      AddApplications(region(0), Elements(operand(count + 1)), costs);
      break;
    }
    case Opcode::kFusion:
      costs.bytes_read = 0;
      for (InstructionId o : instruction.operands()) {
        costs.bytes_read += LeafBytes(computation[o].shape());
      }
      costs.bytes_written = LeafBytes(result);
      AddApplications(region(0), 1, costs);
      break;
    case Opcode::kAsyncStart:
    case Opcode::kCall:
      return region(0);
    case Opcode::kWhile:
      return (region(0) + region(1)) * KnownTripCount(instruction);
    case Opcode::kConditional: {
      costs = region(0);
      for (size_t i = 1; i < instruction.called().size(); ++i) {
        costs = Max(costs, region(i));
      }
      break;
    }
    case Opcode::kDot:
    case Opcode::kRaggedDot:
    case Opcode::kScaledDot:
      costs.flops = DotFlops(operand(0), instruction);
      break;
    case Opcode::kConvolution:
      costs.flops = ConvolutionFlops(operand(0), instruction);
      break;
    case Opcode::kMap:
      AddApplications(region(0), Elements(result), costs);
      break;
    case Opcode::kReduce:
      AddApplications(
          region(0),
          std::max(Elements(operand(0)) - Elements(FirstArray(result)), 0.0),
          costs);
      break;
    case Opcode::kReduceWindow:
      AddApplications(
          region(0),
          (WindowElements(instruction) - 1) * Elements(FirstArray(result)),
          costs);
      break;
    case Opcode::kSelectAndScatter: {
      const double sources = Elements(operand(1));
      AddApplications(region(0), sources * (WindowElements(instruction) - 1),
                      costs);
      AddApplications(region(1), sources, costs);
      break;
    }
    case Opcode::kSort: {
      const double n = Elements(operand(0));
      if (n > 1) costs.flops = n * std::ceil(std::log2(n));
      break;
    }
    case Opcode::kRng:
    case Opcode::kRngBitGenerator:
      costs.transcendentals = LeafElements(result);
      break;
    case Opcode::kCholesky: {
      const Shape& a = operand(0);
      costs.bytes_read /= 2;
      costs.bytes_written /= 2;
      costs.flops =
          Elements(a) * static_cast<double>(a.dimension(a.rank() - 1)) / 3;
      break;
    }
    case Opcode::kTriangularSolve: {
      const Shape& a = operand(0);
      costs.bytes_read -= Bytes(a) / 2;
      costs.flops = kFlopsPerMultiplyAdd * Elements(operand(1)) *
                    static_cast<double>(a.dimension(a.rank() - 1));
      break;
    }
    case Opcode::kFft: {
      // Four multiply-adds make a complex one.
      double logarithms = 1;
      for (int64_t length : instruction.dimensions()) {
        logarithms *= std::floor(std::log2(static_cast<double>(length)));
      }
      costs.flops =
          kFlopsPerMultiplyAdd * 4 * logarithms * Elements(operand(0));
      break;
    }
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
      // Two replicas are assumed: each element is the sum of two.
      costs.flops = LeafElements(result);
      break;
    case Opcode::kCopy:
      break;
    default:
      if (!IsElementwise(opcode)) break;
      (IsTranscendental(opcode) ? costs.transcendentals : costs.flops) =
          Elements(result);
  }
  return costs;
}

}  // namespace hone::hlo
