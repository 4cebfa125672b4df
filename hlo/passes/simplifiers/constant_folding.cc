// constant_folding: computes what depends on constants only.
//
//   a = s32[3] constant({1,2,3});  b = s32[3] constant({4,5,6})
//   ROOT r = s32[3] add(a, b)            →   ROOT r = s32[3] constant({5,7,9})
//
// Stronger than upstream's: operands may also be iotas and broadcasts of
// constants, which is what stands for large regular constants. Legal when the
// instruction is pure. The values come from the evaluator. Numeric class: exact
// for integers, movements of data and the arithmetic that IEEE 754 defines;
// otherwise reassociates, as a target may round transcendental functions and
// sums another way. What the evaluator cannot compute stays.
//
// Not folded: control flow and fusions (their bodies are folded inside),
// tuples, bitcasts (their value depends on layouts), dynamic shapes, constants
// whose value was left out of the text. Nor iota and broadcast themselves, and
// results larger than kMaxGrownElements and than the constants they come from:
// a large constant costs memory and reading it costs time (upstream draws the
// line at 45 million elements). Nor work that would take long: kMaxElements,
// kMaxProducts, and regions of anything but scalars, which might not even end.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "hlo/evaluator/evaluator.h"
#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/values.h"

namespace hone::hlo {
namespace {

constexpr int64_t kMaxGrownElements = 1024;
// Of operands and result together.
constexpr int64_t kMaxElements = int64_t{1} << 20;
// Result times largest operand or window, for opcodes whose work grows so, and
// elements times instructions of the region that they go through.
constexpr int64_t kMaxProducts = int64_t{1} << 24;

bool IsFoldableOpcode(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBitcast:
    case Opcode::kBroadcast:
    case Opcode::kCall:
    case Opcode::kConditional:
    case Opcode::kFusion:
    case Opcode::kGetTupleElement:
    case Opcode::kWhile:
      return false;
    default:
      return true;
  }
}

// Returns true if the work is not linear in operands and result.
bool MultipliesOperands(Opcode opcode) {
  switch (opcode) {
    case Opcode::kCholesky:
    case Opcode::kConvolution:
    case Opcode::kDot:
    case Opcode::kFft:
    case Opcode::kRaggedDot:
    case Opcode::kReduceWindow:
    case Opcode::kScaledDot:
    case Opcode::kScan:
    case Opcode::kSelectAndScatter:
    case Opcode::kTriangularSolve:
      return true;
    default:
      return false;
  }
}

// Returns true if all targets compute the same floats: the operation moves
// data, or IEEE 754 defines its result.
bool IsDefinedOnFloats(Opcode opcode) {
  static const OpcodeSet opcodes = {Opcode::kAbs,
                                    Opcode::kAdd,
                                    Opcode::kBitcastConvert,
                                    Opcode::kCeil,
                                    Opcode::kClamp,
                                    Opcode::kCompare,
                                    Opcode::kConcatenate,
                                    Opcode::kConvert,
                                    Opcode::kCopy,
                                    Opcode::kDivide,
                                    Opcode::kDynamicSlice,
                                    Opcode::kDynamicUpdateSlice,
                                    Opcode::kFloor,
                                    Opcode::kGather,
                                    Opcode::kIsFinite,
                                    Opcode::kMaximum,
                                    Opcode::kMinimum,
                                    Opcode::kMultiply,
                                    Opcode::kNegate,
                                    Opcode::kPad,
                                    Opcode::kReducePrecision,
                                    Opcode::kRemainder,
                                    Opcode::kReshape,
                                    Opcode::kReverse,
                                    Opcode::kRoundNearestAfz,
                                    Opcode::kRoundNearestEven,
                                    Opcode::kSelect,
                                    Opcode::kSign,
                                    Opcode::kSlice,
                                    Opcode::kSubtract,
                                    Opcode::kTranspose};
  return opcodes.Contains(opcode);
}

// Returns true if targets may round the result otherwise than the evaluator.
bool MayRoundOtherwise(const Rewriter& r, const Instruction& instruction) {
  bool has_float = IsFloat(instruction.shape().element_type());
  bool has_complex = IsComplex(instruction.shape().element_type());
  for (InstructionId operand : instruction.operands()) {
    has_float |= IsFloat(r.shape(operand).element_type());
    has_complex |= IsComplex(r.shape(operand).element_type());
  }
  return has_complex || (has_float && !IsDefinedOnFloats(instruction.opcode()));
}

bool HasKnownValue(const Rewriter& r, InstructionId id) {
  if (r.Is(id, Opcode::kBroadcast)) id = r.operand(id, 0);
  return r.Is(id, Opcode::kIota) ||
         ConstantLiteral(r.computation(), id) != nullptr;
}

// The number of elements of the window; over kMaxProducts, some such number.
int64_t WindowElements(const Instruction& instruction) {
  int64_t elements = 1;
  if (instruction.attributes().window == nullptr) return elements;
  for (const WindowDimension& d : *instruction.attributes().window) {
    if (elements > kMaxProducts) break;
    elements *= std::clamp<int64_t>(d.size, 1, kMaxProducts + 1);
  }
  return elements;
}

// The number of instructions that each application of the regions runs.
int64_t RegionSize(const Rewriter& r, const Instruction& instruction) {
  int64_t size = 0;
  for (ComputationId id : instruction.called()) {
    const Computation& region = r.module().computation(id);
    size +=
        region.live_count() - static_cast<int64_t>(region.parameters().size());
  }
  return std::max<int64_t>(size, 1);
}

bool SizesAreSmall(const Rewriter& r, const Instruction& instruction) {
  const int64_t result = instruction.shape().num_elements();
  int64_t all = result;
  int64_t largest = 0;
  int64_t constants = 0;
  for (InstructionId id : instruction.operands()) {
    const int64_t elements = r.shape(id).num_elements();
    // One by one: hostile sizes must not overflow the sum.
    if (elements > kMaxElements || all > kMaxElements) return false;
    all += elements;
    largest = std::max(largest, elements);
    if (r[id].IsConstant()) constants += elements;
  }
  if (all > kMaxElements || result > std::max(kMaxGrownElements, constants)) {
    return false;
  }
  const int64_t window = WindowElements(instruction);
  if (window > kMaxProducts) return false;
  int64_t products = all;
  if (MultipliesOperands(instruction.opcode())) {
    products = std::max(result * largest, std::max(result, largest) * window);
  } else if (instruction.opcode() == Opcode::kSort) {
    products *=
        static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(all)));
  }
  return products <= kMaxProducts &&
         products * RegionSize(r, instruction) <= kMaxProducts;
}

// Returns true if each call of the region takes a short time.
bool IsScalarRegion(const Computation& region) {
  for (const Instruction& instruction : region.instructions()) {
    if (!instruction.called().empty() || !instruction.shape().IsScalar()) {
      return false;
    }
  }
  return true;
}

bool IsFoldable(const Rewriter& r, InstructionId id) {
  const Instruction& instruction = r[id];
  return instruction.operand_count() > 0 &&
         IsFoldableOpcode(instruction.opcode()) &&
         std::all_of(instruction.operands().begin(),
                     instruction.operands().end(),
                     [&](InstructionId operand) {
                       return HasKnownValue(r, operand);
                     }) &&
         instruction.shape().IsArray() && SizesAreSmall(r, instruction) &&
         (!MayRoundOtherwise(r, instruction) ||
          r.Permits(NumericClass::kReassociates)) &&
         std::all_of(instruction.called().begin(), instruction.called().end(),
                     [&](ComputationId region) {
                       return IsScalarRegion(r.module().computation(region));
                     }) &&
         r.MayReplace(id);
}

// The value of an instruction; nullopt where the evaluator has none.
std::optional<Literal> Value(const Rewriter& r, InstructionId id) {
  if (r[id].IsConstant()) return *r[id].literal();
  std::vector<Literal> operands;
  for (InstructionId operand : r[id].operands()) {
    std::optional<Literal> value = Value(r, operand);
    if (!value.has_value()) return std::nullopt;
    operands.push_back(*std::move(value));
  }
  absl::StatusOr<Literal> value =
      EvaluateInstruction(r.module(), r.computation(), id, operands);
  if (!value.ok()) return std::nullopt;
  return *std::move(value);
}

bool Fold(Rewriter& r, InstructionId id) {
  if (!IsFoldable(r, id)) return false;
  const std::optional<Literal> value = Value(r, id);
  return value.has_value() &&
         r.Replace(id, MakeConstant(r, value->Reshaped(r[id].shape_ptr())));
}

}  // namespace

std::unique_ptr<Pass> MakeConstantFolding() {
  return MakeRulePass({.name = "constant_folding",
                       .visit = Visit::kFixedPoint,
                       .checks_itself = true},
                      Fold);
}

}  // namespace hone::hlo
