// constant_folding: computes what depends on constants only.
//
//   a = s32[3] constant({1,2,3});  b = s32[3] constant({4,5,6})
//   ROOT r = s32[3] add(a, b)            →   ROOT r = s32[3] constant({5,7,9})
//
// Operands may also be iotas and broadcasts of constants, which is what stands
// for large regular constants. The values come from the evaluator, so floating
// point results may differ from a target's in the last bits.
//
// Legal when the instruction is pure. Not folded: opaque instructions, control
// flow and fusions (their bodies are folded inside), tuples, bitcasts (their
// value depends on layouts), dynamic shapes, constants whose value was left out
// of the text, ends of control dependencies, scheduled modules. Nor iota and
// broadcast themselves, and results larger than kMaxGrownElements and than the
// constants they come from: a large constant costs memory and reading it costs
// time (upstream draws the line at 45 million elements). Nor work that would
// take long: kMaxElements, kMaxProducts.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "hlo/evaluator/evaluator.h"
#include "hlo/passes/registry.h"

namespace hone::hlo {
namespace {

constexpr int64_t kMaxGrownElements = 1024;
// Of operands and result together.
constexpr int64_t kMaxElements = int64_t{1} << 20;
// Result times largest operand elements, for opcodes whose work grows so.
constexpr int64_t kMaxProducts = int64_t{1} << 24;

bool IsFoldableOpcode(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBitcast:
    case Opcode::kBroadcast:
    case Opcode::kCall:
    case Opcode::kConditional:
    case Opcode::kConstant:
    case Opcode::kFusion:
    case Opcode::kGetTupleElement:
    case Opcode::kIota:
    case Opcode::kParameter:
    case Opcode::kPartitionId:
    case Opcode::kReplicaId:
    case Opcode::kTuple:
    case Opcode::kWhile:
      return false;
    default:
      return !IsOpaque(opcode);
  }
}

// Whether the work is not linear in operands and result.
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

bool IsKnownConstant(const Instruction& instruction) {
  return instruction.IsConstant() && instruction.shape().IsArray() &&
         !instruction.literal()->is_elided();
}

bool HasKnownValue(const Computation& computation, InstructionId id) {
  const Instruction& instruction = computation[id];
  if (instruction.opcode() == Opcode::kBroadcast) {
    return IsKnownConstant(computation[instruction.operand(0)]);
  }
  return instruction.opcode() == Opcode::kIota || IsKnownConstant(instruction);
}

bool SizesAreSmall(const Computation& computation,
                   const Instruction& instruction) {
  const int64_t result = instruction.shape().num_elements();
  int64_t all = result;
  int64_t largest = 0;
  int64_t constants = 0;
  for (InstructionId id : instruction.operands()) {
    const int64_t elements = computation[id].shape().num_elements();
    // One by one: hostile sizes must not overflow the sum.
    if (elements > kMaxElements || all > kMaxElements) return false;
    all += elements;
    largest = std::max(largest, elements);
    if (computation[id].IsConstant()) constants += elements;
  }
  return all <= kMaxElements &&
         result <= std::max(kMaxGrownElements, constants) &&
         (!MultipliesOperands(instruction.opcode()) ||
          result * largest <= kMaxProducts);
}

bool IsFoldable(const Module& module, const Computation& computation,
                InstructionId id) {
  const Instruction& instruction = computation[id];
  if (!instruction.is_live() || instruction.operand_count() == 0 ||
      !IsFoldableOpcode(instruction.opcode()) ||
      !instruction.shape().IsArray() || instruction.shape().is_dynamic()) {
    return false;
  }
  for (InstructionId operand : instruction.operands()) {
    if (!HasKnownValue(computation, operand)) return false;
  }
  return SizesAreSmall(computation, instruction) &&
         !module.HasSideEffect(instruction) &&
         !computation.HasControlDependency(id);
}

// The value of an instruction that HasKnownValue.
absl::StatusOr<Literal> KnownValue(const Module& module,
                                   const Computation& computation,
                                   InstructionId id) {
  const Instruction& instruction = computation[id];
  if (instruction.IsConstant()) return *instruction.literal();
  std::vector<Literal> operands;
  for (InstructionId operand : instruction.operands()) {
    operands.push_back(*computation[operand].literal());
  }
  return EvaluateInstruction(module, computation, id, operands);
}

// The value of a foldable instruction; nullopt where the evaluator has none.
std::optional<Literal> Fold(const Module& module,
                            const Computation& computation, InstructionId id) {
  std::vector<Literal> operands;
  for (InstructionId operand : computation[id].operands()) {
    absl::StatusOr<Literal> value = KnownValue(module, computation, operand);
    if (!value.ok()) return std::nullopt;
    operands.push_back(*std::move(value));
  }
  absl::StatusOr<Literal> result =
      EvaluateInstruction(module, computation, id, operands);
  if (!result.ok()) return std::nullopt;
  return result->Reshaped(computation[id].shape_ptr());
}

bool FoldComputation(Module& module, ComputationId computation_id) {
  const Computation& shared = module.computation(computation_id);
  bool has_work = false;
  for (InstructionId id = 0; id < shared.slot_count() && !has_work; ++id) {
    has_work = IsFoldable(module, shared, id);
  }
  if (!has_work) return false;
  bool changed = false;
  // Operands first, so that chains fold in one run.
  for (InstructionId id : shared.PostOrder()) {
    if (!IsFoldable(module, module.computation(computation_id), id)) continue;
    std::optional<Literal> value =
        Fold(module, module.computation(computation_id), id);
    if (!value.has_value()) continue;
    Computation& computation = module.mutable_computation(computation_id);
    Instruction constant = Instruction::Constant(*std::move(value));
    constant.set_metadata(computation[id].metadata());
    const InstructionId folded =
        computation.AddInstruction(std::move(constant));
    computation.ReplaceAllUses(id, folded);
    computation.RemoveWithUnusedOperands(id);
    changed = true;
  }
  return changed;
}

class ConstantFolding final : public Pass {
 public:
  absl::string_view name() const override { return "constant_folding"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    bool changed = false;
    for (ComputationId c = 0; c < module.computation_slots(); ++c) {
      if (module.has_computation(c)) changed |= FoldComputation(module, c);
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeConstantFolding() {
  return std::make_unique<ConstantFolding>();
}

}  // namespace hone::hlo
