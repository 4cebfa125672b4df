#include "loops/lowering/rewrites/widen_chains.h"

#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

#include "hlo/ir/id_map.h"

namespace hone::loops {
namespace {

using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;

bool HasType(const Instruction& instruction, ElementType type) {
  return instruction.shape().IsArray() &&
         instruction.shape().element_type() == type;
}

// Returns true if the operation on values of bf16 gives one of f32 that is not
// of bf16, and changes little if an operand does.
bool IsContinuousArithmetic(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kCosine:
    case Opcode::kDivide:
    case Opcode::kErf:
    case Opcode::kExponential:
    case Opcode::kExponentialMinusOne:
    case Opcode::kLog:
    case Opcode::kLogPlusOne:
    case Opcode::kLogistic:
    case Opcode::kMultiply:
    case Opcode::kRsqrt:
    case Opcode::kSine:
    case Opcode::kSqrt:
    case Opcode::kSubtract:
    case Opcode::kTanh:
      return true;
    default:
      return false;
  }
}

// Returns true if the result is an operand, or its negation.
bool PassesOn(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kClamp:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kNegate:
    case Opcode::kSelect:
      return true;
    default:
      return false;
  }
}

// Returns true if the result is not defined, or infinite, beyond some value of
// operand 0, or of operand 1 of a division.
bool HasEdge(Opcode opcode) {
  switch (opcode) {
    case Opcode::kDivide:
    case Opcode::kLog:
    case Opcode::kLogPlusOne:
    case Opcode::kPower:
    case Opcode::kRsqrt:
    case Opcode::kSqrt:
      return true;
    default:
      return false;
  }
}

// Returns, for each instruction of `computation`, whether it may be a small
// number where it would be zero if both sides of a difference were rounded.
// What a computation is given may be if `given`.
hlo::IdMap<bool> FindDifferences(const hlo::Computation& computation,
                                 bool given) {
  hlo::IdMap<bool> differences;
  for (InstructionId id : computation.PostOrder()) {
    const Instruction& instruction = computation[id];
    const hlo::InstructionIds& operands = instruction.operands();
    switch (instruction.opcode()) {
      case Opcode::kSubtract:
      case Opcode::kNegate:
        differences[id] = true;
        continue;
      case Opcode::kConditional:
      case Opcode::kParameter:
      case Opcode::kWhile:
        differences[id] = given;
        continue;
      // Never negative, and no smaller than what they are of.
      case Opcode::kAbs:
      case Opcode::kExponential:
      case Opcode::kLogistic:
        continue;
      case Opcode::kMultiply:
        if (operands[0] == operands[1]) continue;
        break;
      default:
        break;
    }
    differences[id] = absl::c_any_of(
        operands, [&](InstructionId operand) { return differences[operand]; });
  }
  return differences;
}

bool IsFloatArray(const hlo::Computation& computation, InstructionId id) {
  const hlo::Shape& shape = computation[id].shape();
  return shape.IsArray() && hlo::IsFloat(shape.element_type());
}

// Returns true if the result may be another one where a number that the
// operation reads has another last digit.
bool Decides(const hlo::Computation& computation,
             const Instruction& instruction,
             const hlo::IdMap<bool>& differences) {
  if (HasEdge(instruction.opcode())) {
    const bool divides = instruction.opcode() == Opcode::kDivide;
    return differences.at(instruction.operand(divides ? 1 : 0));
  }
  switch (instruction.opcode()) {
    case Opcode::kAcos:
    case Opcode::kAcosh:
    case Opcode::kAsin:
    case Opcode::kAtanh:
    case Opcode::kBitcastConvert:
    case Opcode::kCeil:
    case Opcode::kCompare:
    case Opcode::kFloor:
    case Opcode::kIsFinite:
    case Opcode::kRemainder:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
    case Opcode::kSign:
      return IsFloatArray(computation, instruction.operand(0));
    case Opcode::kConvert:
      return IsFloatArray(computation, instruction.operand(0)) &&
             !IsFloatArray(computation, instruction.id());
    // With regions that compare.
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
      return instruction.operand_count() > 2;
    case Opcode::kCustomCall:
    case Opcode::kMap:
    case Opcode::kScatter:
    case Opcode::kSelectAndScatter:
    case Opcode::kSort:
    case Opcode::kTopk:
      return true;
    default:
      return false;
  }
}

bool IsControlFlow(const Instruction& instruction) {
  return instruction.opcode() == Opcode::kConditional ||
         instruction.opcode() == Opcode::kWhile;
}

bool Decides(const hlo::Module& module) {
  return absl::c_any_of(module.ComputationIds(), [&](hlo::ComputationId id) {
    const hlo::Computation& computation = module.computation(id);
    const hlo::IdMap<bool> differences =
        FindDifferences(computation, /*given=*/true);
    return absl::c_any_of(
        computation.instructions(), [&](const Instruction& instruction) {
          return Decides(computation, instruction, differences);
        });
  });
}

// Changes one computation.
class ChainWidener {
 public:
  // `module_decides`: what control flow reads may have a part in a decision.
  // `is_called`: its arguments may be differences.
  ChainWidener(hlo::Computation& computation, bool module_decides,
               bool is_called)
      : computation_(computation) {
    const auto order = computation.PostOrder();
    const hlo::IdMap<bool> differences =
        FindDifferences(computation, /*given=*/is_called);
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      const Instruction& instruction = computation[*id];
      if (!decides_.contains(*id) &&
          !Decides(computation, instruction, differences) &&
          !(module_decides && IsControlFlow(instruction))) {
        continue;
      }
      const hlo::InstructionIds& operands = computation[*id].operands();
      decides_.insert(operands.begin(), operands.end());
    }
  }

  bool Run() {
    bool changed = false;
    for (InstructionId id : computation_.PostOrder()) {
      const Instruction& instruction = computation_[id];
      const Opcode opcode = instruction.opcode();
      if (!HasType(instruction, ElementType::kBf16) ||
          (!IsContinuousArithmetic(opcode) && !PassesOn(opcode)) ||
          decides_.contains(id)) {
        continue;
      }
      const bool has_wide_operand = absl::c_any_of(
          instruction.operands(),
          [&](InstructionId operand) { return wide_.contains(operand); });
      const bool is_wide = MayBeWide(instruction) &&
                           (has_wide_operand || IsContinuousArithmetic(opcode));
      if (!is_wide && !has_wide_operand) continue;
      changed = true;
      Widen(id);
      if (is_wide) {
        wide_.insert(id);
      } else {
        Round(id);
      }
    }
    return changed;
  }

 private:
  // Returns true if readers may have the value in f32. Several only if they
  // read what was just summed, which is local to their kernel: an array in f32
  // takes twice the memory.
  bool MayBeWide(const Instruction& instruction) const {
    const hlo::InstructionIds& users = instruction.users();
    return !users.empty() && instruction.id() != computation_.root() &&
           absl::c_all_of(
               users, [&](InstructionId user) { return ReadsWide(user); }) &&
           (users.size() == 1 || absl::c_any_of(users, [&](InstructionId user) {
              return IsReadBySum(user);
            }));
  }
  bool ReadsWide(InstructionId id) const {
    const Instruction& reader = computation_[id];
    if (reader.opcode() == Opcode::kConvert) {
      return HasType(reader, ElementType::kF32);
    }
    return HasType(reader, ElementType::kBf16) &&
           (IsContinuousArithmetic(reader.opcode()) ||
            PassesOn(reader.opcode()));
  }
  // Returns true if the conversion is the operand of a reduction and nothing
  // else.
  bool IsReadBySum(InstructionId id) const {
    const Instruction& conversion = computation_[id];
    return conversion.opcode() == Opcode::kConvert &&
           conversion.users().size() == 1 && id != computation_.root() &&
           computation_[conversion.users()[0]].opcode() == Opcode::kReduce;
  }

  InstructionId Converted(InstructionId operand, ElementType type) {
    return computation_.AddInstruction(Instruction(
        Opcode::kConvert,
        hlo::WithElementType(computation_[operand].shape(), type), {operand}));
  }

  void SetType(InstructionId id, ElementType type) {
    Instruction& instruction = computation_.mutable_instruction(id);
    instruction.set_shape(hlo::WithElementType(instruction.shape(), type));
  }

  // Computes the instruction in f32.
  void Widen(InstructionId id) {
    for (size_t i = 0; i < computation_[id].operand_count(); ++i) {
      const InstructionId operand = computation_[id].operand(i);
      if (!HasType(computation_[operand], ElementType::kBf16)) continue;
      const auto [known, is_new] = converted_.try_emplace(operand);
      if (is_new) known->second = Converted(operand, ElementType::kF32);
      computation_.ReplaceOperand(id, i, known->second);
    }
    SetType(id, ElementType::kF32);
  }

  // Gives readers the value in bf16, under the old name.
  void Round(InstructionId id) {
    const InstructionId narrow = Converted(id, ElementType::kBf16);
    computation_.ReplaceAllUses(id, narrow);
    const std::string name = computation_[id].name();
    if (name.empty()) return;
    computation_.mutable_instruction(narrow).set_name(name);
    computation_.mutable_instruction(id).set_name(absl::StrCat(name, ".f32"));
  }

  hlo::Computation& computation_;
  // What has a part in a decision.
  absl::flat_hash_set<InstructionId> decides_;
  // What has f32 in place of bf16.
  absl::flat_hash_set<InstructionId> wide_;
  // What was converted to f32, and the conversion.
  absl::flat_hash_map<InstructionId, InstructionId> converted_;
};

}  // namespace

bool WidenChains(hlo::Module& module) {
  const bool module_decides = Decides(module);
  bool changed = false;
  for (hlo::ComputationId id : module.ComputationIds()) {
    if (module_decides && id != module.entry()) continue;
    changed |= ChainWidener(module.mutable_computation(id), module_decides,
                            /*is_called=*/id != module.entry())
                   .Run();
  }
  return changed;
}

}  // namespace hone::loops
