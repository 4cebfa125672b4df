#include "backends/tpu_sim/instruction_work.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "absl/algorithm/container.h"

#include "backends/tpu_sim/matrix_work.h"
#include "backends/tpu_sim/vector_costs.h"
#include "hlo/tiles/matrix_product.h"
#include "hlo/tiles/network_stages.h"
#include "hlo/tiles/register_layout.h"
#include "hlo/tiles/register_moves.h"

namespace hone::backends {
namespace {

using hlo::Box;
using hlo::Instruction;
using hlo::Opcode;
using hlo::Region;
using hlo::RegisterDimensions;
using hlo::RegisterMove;
using hlo::Shape;
using hlo::TiledShape;

// Assumed: random bits by counters take so many operations.
constexpr double kRandomBitsAlu = 80;
constexpr double kRandomNumberAlu = 30;
// Assumed: a step of a factorization waits for the one before.
constexpr double kSequentialStepCycles = 100;
// Assumed: an opaque call, and what it does with all that it is given.
constexpr double kOpaqueCallCycles = 2000;
constexpr double kOpaquePasses = 2;

size_t Index(int64_t i) { return static_cast<size_t>(i); }

double CeilOf(double a, double b) { return std::ceil(a / b); }

// Finds the work of one instruction.
class Finder {
 public:
  Finder(const hlo::TiledKernel& kernel, const hlo::IdMap<Region>& regions,
         const Instruction& instruction, const Tpu& tpu)
      : kernel_(kernel),
        regions_(regions),
        instruction_(instruction),
        tpu_(tpu),
        region_(regions.at(instruction.id())),
        registers_(Registers(instruction, region_)) {
    if (const Shape* const shape = TiledShape(instruction)) {
      lanes_ = hlo::RegisterDimensionsOf(*shape);
    }
  }

  InstructionWork Find() {
    FindByOpcode();
    return result_;
  }

 private:
  const Instruction& Operand(size_t i) const {
    return kernel_.computation()[instruction_.operand(i)];
  }
  const Region& OperandRegion(size_t i) const {
    return regions_.at(instruction_.operand(i));
  }
  double OperandRegisters(size_t i) const {
    return Registers(Operand(i), OperandRegion(i));
  }
  const Shape* OperandShape(size_t i) const {
    return i < instruction_.operand_count() ? TiledShape(Operand(i)) : nullptr;
  }
  RegisterMove Move(size_t i) const {
    return hlo::MoveOf(kernel_.computation(), instruction_, i);
  }
  // The registers side by side along the lanes of a region.
  static double LaneTiles(const Shape& shape, const Box& box) {
    const int64_t lane = hlo::RegisterDimensionsOf(shape).lane;
    if (lane < 0 || shape.rank() < 2) return 1;
    return std::max(
        1.0, CeilOf(static_cast<double>(box[Index(lane)].size), hlo::kLanes));
  }
  void Add(Unit unit, double operations) { result_.work[unit] += operations; }
  void AddApplied(double registers) {
    VectorCost cost = {1, 0};
    if (!instruction_.called().empty()) {
      cost = AppliedCost(kernel_.module(), instruction_.called()[0]);
    }
    Add(Unit::kAlu, registers * cost.alu);
    Add(Unit::kTranscendental, registers * cost.transcendental);
  }

  void FindByOpcode() {
    switch (instruction_.opcode()) {
      case Opcode::kBroadcast:
        return OfBroadcast();
      case Opcode::kTranspose:
      case Opcode::kReshape:
        return OfRelayout();
      case Opcode::kReverse:
        return OfReverse();
      case Opcode::kConcatenate:
        return OfConcatenate();
      case Opcode::kSlice:
        return OfSlice();
      case Opcode::kPad:
        return OfPad();
      case Opcode::kReduce:
        return OfReduce();
      case Opcode::kMap:
        return AddApplied(registers_);
      case Opcode::kIota:
        return Add(Unit::kAlu, registers_);
      case Opcode::kRng:
        return Add(Unit::kAlu, registers_ * kRandomNumberAlu);
      case Opcode::kRngBitGenerator:
        return Add(Unit::kAlu, registers_ * kRandomBitsAlu);
      case Opcode::kBatchNormInference:
        return Add(Unit::kAlu, registers_ * 6);
      case Opcode::kDot: {
        result_ = DotWork(kernel_, regions_, instruction_, tpu_);
        return;
      }
      case Opcode::kConvolution: {
        result_ = ConvolutionWork(kernel_, regions_, instruction_, tpu_);
        return;
      }
      case Opcode::kReduceWindow:
        return OfReduceWindow();
      case Opcode::kSelectAndScatter:
        return OfSelectAndScatter();
      case Opcode::kDynamicSlice:
      case Opcode::kDynamicUpdateSlice:
        return OfDynamicSlice();
      case Opcode::kGather:
        return OfGather();
      case Opcode::kScatter:
        return OfScatter();
      case Opcode::kSort:
        return OfSort();
      case Opcode::kFft:
        return OfFft();
      case Opcode::kCholesky:
      case Opcode::kTriangularSolve:
        return OfFactorization();
      default:
        if (hlo::IsElementwise(instruction_.opcode())) return OfElementwise();
        return OfOpaque();
    }
  }

  void OfElementwise() {
    const VectorCost cost = ElementwiseCost(instruction_);
    Add(Unit::kAlu, registers_ * cost.alu);
    Add(Unit::kTranscendental, registers_ * cost.transcendental);
    // Operands with other dimensions along lanes are transposed.
    for (size_t i = 0; i < instruction_.operand_count(); ++i) {
      if (Move(i) == RegisterMove::kChangeLanes) {
        Add(Unit::kCrossLane, 2 * OperandRegisters(i));
      }
    }
  }

  void OfBroadcast() {
    switch (Move(0)) {
      case RegisterMove::kFillLanes:
        // And all registers beside each other.
        return Add(
            Unit::kCrossLane,
            registers_ / LaneTiles(*TiledShape(instruction_), region_.box));
      case RegisterMove::kFillSublanes: {
        const double rows =
            CeilOf(static_cast<double>(region_.box[Index(lanes_.sublane)].size),
                   hlo::kSublanes);
        return Add(Unit::kAlu, registers_ / std::max(rows, 1.0));
      }
      case RegisterMove::kChangeLanes:
        return Add(Unit::kCrossLane, registers_);
      case RegisterMove::kNone:
      case RegisterMove::kChangeSublanes:
        return;
    }
  }

  // A transpose or a reshape.
  void OfRelayout() {
    const RegisterMove move = Move(0);
    if (move == RegisterMove::kChangeLanes) {
      Add(Unit::kCrossLane, 2 * registers_);
    } else if (move == RegisterMove::kChangeSublanes) {
      Add(Unit::kAlu, 2 * registers_);
    }
  }

  void OfReverse() {
    for (const int64_t d : instruction_.dimensions()) {
      if (!hlo::IsAligned(lanes_, d, 1)) Add(Unit::kCrossLane, registers_);
    }
  }

  // Adds what it costs to move `registers` by `offset` along a dimension.
  void AddShift(int64_t d, int64_t offset, double registers) {
    if (hlo::IsAligned(lanes_, d, offset)) return;
    Add(Unit::kCrossLane, registers);
    Add(Unit::kAlu, registers);
  }

  void OfConcatenate() {
    if (instruction_.dimensions().empty()) return;
    const int64_t d = instruction_.dimensions()[0];
    int64_t offset = 0;
    for (size_t i = 0; i < instruction_.operand_count(); ++i) {
      AddShift(d, offset, std::min(OperandRegisters(i), registers_));
      if (const Shape* const shape = OperandShape(i)) {
        offset += shape->dimension(d);
      }
    }
  }

  void OfSlice() {
    const auto& slice = instruction_.attributes().slice;
    for (size_t d = 0; d < slice.size(); ++d) {
      const auto dimension = static_cast<int64_t>(d);
      AddShift(dimension, slice[d].start, registers_);
      if (slice[d].stride > 1) AddShift(dimension, 1, registers_);
    }
  }

  void OfPad() {
    const auto& padding = instruction_.attributes().padding;
    Add(Unit::kAlu, registers_);
    for (size_t d = 0; d < padding.size(); ++d) {
      const auto dimension = static_cast<int64_t>(d);
      AddShift(dimension, padding[d].low, registers_);
      if (padding[d].interior > 0) AddShift(dimension, 1, registers_);
    }
  }

  void OfReduce() {
    const Shape* const from = OperandShape(0);
    if (from == nullptr) return;
    AddApplied(OperandRegisters(0));
    const RegisterDimensions own = hlo::RegisterDimensionsOf(*from);
    const hlo::DimensionVector& dimensions = instruction_.dimensions();
    const auto partial = static_cast<double>(
        hlo::CombinedRegisters(*from, OperandRegion(0).box, dimensions));
    const auto arrays = static_cast<double>(instruction_.operand_count() / 2);
    if (absl::c_linear_search(dimensions, own.sublane)) {
      AddApplied(3 * partial);
    }
    if (own.lane >= 0 && absl::c_linear_search(dimensions, own.lane)) {
      // Across the lanes, and from sublanes into lanes of the result.
      Add(Unit::kCrossLane, 2 * partial * arrays);
      result_.stall += static_cast<double>(tpu_.cross_lane_latency);
    }
  }

  // Loads and stores of its own.
  void AddPasses(double registers, double loads, double stores) {
    Add(Unit::kLoad, registers * loads);
    Add(Unit::kStore, registers * stores);
  }

  void OfReduceWindow() {
    const double window = hlo::WindowPositions(instruction_);
    AddApplied(registers_ * window);
    AddPasses(registers_, window, 1);
    AddWindowShifts(registers_);
  }

  void AddWindowShifts(double registers) {
    if (instruction_.attributes().window == nullptr) return;
    const hlo::Window& window = *instruction_.attributes().window;
    for (size_t d = 0; d < window.size(); ++d) {
      const auto dimension = static_cast<int64_t>(d);
      if (dimension != lanes_.lane && dimension != lanes_.sublane) continue;
      const auto size = static_cast<double>(window[d].size);
      Add(Unit::kCrossLane, registers * std::max(size - 1, 0.0));
      if (window[d].stride > 1 || window[d].base_dilation > 1) {
        Add(Unit::kCrossLane, 2 * registers);
      }
    }
  }

  void OfSelectAndScatter() {
    const double window = hlo::WindowPositions(instruction_);
    const double registers = std::max(registers_, OperandRegisters(0));
    Add(Unit::kAlu, 3 * window * registers);
    AddPasses(registers, 2 * window, window);
    AddWindowShifts(registers);
  }

  void AddIndices(double count) {
    Add(Unit::kScalar, count * static_cast<double>(tpu_.index_cycles));
  }

  void OfDynamicSlice() {
    const bool updates = instruction_.opcode() == Opcode::kDynamicUpdateSlice;
    const size_t part = updates && instruction_.operand_count() > 1 ? 1 : 0;
    const double moved =
        updates ? std::min(registers_, OperandRegisters(part)) : registers_;
    AddIndices(
        static_cast<double>(instruction_.operand_count() - (updates ? 2 : 1)));
    Add(Unit::kAlu, moved);
    Add(Unit::kCrossLane, moved);
    AddPasses(registers_, 1, 1);
  }

  std::optional<hlo::IndexedSlices> Slices() const {
    return hlo::IndexedSlicesOf(kernel_.computation(), instruction_, regions_);
  }
  // The registers of the array, or the parts of registers that each slice takes
  // if they are more.
  double RowsOf(const hlo::IndexedSlices& slices) const {
    const Instruction& array = kernel_.computation()[slices.array];
    const Region& region = regions_.at(slices.array);
    return std::max(Registers(array, region),
                    slices.count * LaneTiles(*TiledShape(array), region.box));
  }

  void OfGather() {
    const auto slices = Slices();
    if (!slices) return OfOpaque();
    AddIndices(slices->count);
    const double rows = RowsOf(*slices);
    Add(Unit::kCrossLane, rows);
    AddPasses(rows, 1, 1);
  }

  void OfScatter() {
    const auto slices = Slices();
    if (!slices) return OfOpaque();
    AddIndices(2 * slices->count);
    const double rows = RowsOf(*slices);
    AddApplied(rows);
    Add(Unit::kCrossLane, rows);
    AddPasses(rows, 2, 1);
    AddPasses(registers_, 1, 1);
  }

  // A bitonic network: every stage passes over all registers.
  void OfSort() {
    if (instruction_.dimensions().empty()) return OfOpaque();
    const int64_t d = instruction_.dimensions()[0];
    const double stages = hlo::NetworkStages(instruction_);
    const auto arrays = static_cast<double>(instruction_.operand_count());
    AddApplied(registers_ * stages);
    Add(Unit::kAlu, 2 * registers_ * stages * arrays);
    if (d == lanes_.lane || d == lanes_.sublane) {
      Add(Unit::kCrossLane, registers_ * stages * arrays);
    }
    AddPasses(registers_, stages * arrays, stages * arrays);
  }

  void OfFft() {
    const double stages = hlo::NetworkStages(instruction_);
    Add(Unit::kAlu, 5 * stages * registers_);
    Add(Unit::kCrossLane, stages * registers_);
    AddPasses(registers_, stages, stages);
  }

  void OfFactorization() {
    const Shape* const shape = OperandShape(0);
    if (shape == nullptr || shape->rank() < 2) return OfOpaque();
    const double n = hlo::NetworkStages(instruction_);
    double matrices = 1;
    for (size_t d = 0; d + 2 < OperandRegion(0).box.size(); ++d) {
      matrices *= static_cast<double>(OperandRegion(0).box[d].size);
    }
    Add(Unit::kAlu, registers_ * n);
    AddPasses(registers_, n, n);
    result_.stall += matrices * n * kSequentialStepCycles;
  }

  // Calls, communication and opcodes that we do not know: passes over all that
  // they are given and return.
  void OfOpaque() {
    double registers = registers_;
    for (size_t i = 0; i < instruction_.operand_count(); ++i) {
      registers += OperandRegisters(i);
    }
    Add(Unit::kAlu, kOpaquePasses * registers);
    AddPasses(registers, kOpaquePasses, 1);
    result_.stall += kOpaqueCallCycles;
  }

  const hlo::TiledKernel& kernel_;
  const hlo::IdMap<Region>& regions_;
  const Instruction& instruction_;
  const Tpu& tpu_;
  const Region region_;
  const double registers_;
  RegisterDimensions lanes_;
  InstructionWork result_;
};

// Of what is no array: its bytes.
double RegistersOfOther(const Instruction& instruction) {
  return std::ceil(static_cast<double>(instruction.shape().byte_size()) /
                   hlo::kRegisterBytes);
}

}  // namespace

double Registers(const Instruction& instruction, const Region& region) {
  return TiledShape(instruction) == nullptr
             ? RegistersOfOther(instruction)
             : hlo::UnpackedRegisters(instruction, region);
}

double StoredRegisters(const Instruction& instruction, const Region& region) {
  return TiledShape(instruction) == nullptr
             ? RegistersOfOther(instruction)
             : hlo::PackedRegisters(instruction, region);
}

InstructionWork WorkOf(const hlo::TiledKernel& kernel,
                       const hlo::IdMap<Region>& regions,
                       const Instruction& instruction, const Tpu& tpu) {
  return Finder(kernel, regions, instruction, tpu).Find();
}

}  // namespace hone::backends
