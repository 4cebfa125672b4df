// convert-mover: moves conversions so that data is moved in the smaller type.
//
//   op(convert(x), convert(y), constant), x and y of one narrower type
//     →  convert(op(x, y, constant converted))
//   convert(op(x, y)) to a narrower type
//     →  op(convert(x), convert(y))
//
// for op one of concatenate, pad, reshape, slice and transpose. Legal because
// these only move elements; a constant must come back unchanged from the
// narrower type. Only where the conversion (first rule) or op (second rule) has
// no other user, for otherwise both would be done; not for types narrower than
// a byte, instructions that have attributes beyond their own (a sharding), ends
// of control dependencies and scheduled modules. The second rule makes a
// conversion for each operand.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "hlo/evaluator/evaluator.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/builder.h"

namespace hone::hlo {
namespace {

bool OnlyMovesElements(Opcode opcode) {
  switch (opcode) {
    case Opcode::kConcatenate:
    case Opcode::kPad:
    case Opcode::kReshape:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return true;
    default:
      return false;
  }
}

bool IsSubByte(ElementType type) {
  return KindOf(type) != ElementKind::kPred && BitWidth(type) < 8;
}

ElementType TypeOf(const Computation& computation, InstructionId id) {
  return computation[id].shape().element_type();
}

// The value converted to another type; nullopt when that is not known.
std::optional<Literal> Converted(const Module& module, const Literal& value,
                                 ElementType type) {
  Computation computation;
  const InstructionId from =
      computation.AddInstruction(Instruction::Parameter(0, value.shape_ptr()));
  const InstructionId to = computation.AddInstruction(Instruction(
      Opcode::kConvert, WithElementType(value.shape(), type), {from}));
  absl::StatusOr<Literal> result =
      EvaluateInstruction(module, computation, to, {value});
  if (!result.ok()) return std::nullopt;
  return *std::move(result);
}

// The value converted to another type, if it comes back unchanged.
std::optional<Literal> LosslesslyConverted(const Module& module,
                                           const Literal& value,
                                           ElementType type) {
  std::optional<Literal> there = Converted(module, value, type);
  if (!there.has_value()) return std::nullopt;
  const std::optional<Literal> back =
      Converted(module, *there, value.shape().element_type());
  if (!back.has_value() || !(*back == value)) return std::nullopt;
  return there;
}

// Moves the conversions of one computation.
class Mover {
 public:
  Mover(const Module& module, Computation& computation)
      : module_(module), computation_(computation) {}

  bool Run() {
    const std::vector<InstructionId> order = computation_.PostOrder();
    bool changed = false;
    for (InstructionId id : order) {
      if (computation_[id].is_live()) changed |= WidenLater(id);
    }
    // Users first: what moves up is looked at again from there.
    std::vector<InstructionId> worklist = order;
    while (!worklist.empty()) {
      const InstructionId id = worklist.back();
      worklist.pop_back();
      if (computation_[id].is_live()) changed |= NarrowEarlier(id, worklist);
    }
    return changed;
  }

  // Whether Run would change anything.
  static bool HasWork(const Module& module, const Computation& computation) {
    for (InstructionId id = 0; id < computation.slot_count(); ++id) {
      if (computation[id].is_live() &&
          (NarrowSource(module, computation, id).has_value() ||
           CanNarrowEarlier(computation, id))) {
        return true;
      }
    }
    return false;
  }

 private:
  // The type in which `id` could do its work, if it widens all its operands.
  static std::optional<ElementType> NarrowSource(const Module& module,
                                                 const Computation& computation,
                                                 InstructionId id) {
    const Instruction& op = computation[id];
    if (!OnlyMovesElements(op.opcode()) || !op.attributes().others.empty() ||
        computation.HasControlDependency(id)) {
      return std::nullopt;
    }
    std::optional<ElementType> source;
    for (InstructionId operand : op.operands()) {
      const Instruction& value = computation[operand];
      if (value.IsConstant()) continue;
      if (value.opcode() != Opcode::kConvert || value.users().size() != 1 ||
          operand == computation.root() ||
          computation.HasControlDependency(operand)) {
        return std::nullopt;
      }
      const ElementType type = TypeOf(computation, value.operand(0));
      if (source.value_or(type) != type) return std::nullopt;
      source = type;
    }
    if (!source.has_value() || IsSubByte(*source) ||
        BitWidth(*source) >= BitWidth(op.shape().element_type())) {
      return std::nullopt;
    }
    for (InstructionId operand : op.operands()) {
      if (!computation[operand].IsConstant()) continue;
      const Literal* literal = ConstantLiteral(computation, operand);
      if (literal == nullptr ||
          !LosslesslyConverted(module, *literal, *source).has_value()) {
        return std::nullopt;
      }
    }
    return source;
  }

  bool WidenLater(InstructionId id) {
    const std::optional<ElementType> type =
        NarrowSource(module_, computation_, id);
    if (!type.has_value()) return false;
    const InstructionIds old_operands = computation_[id].operands();
    InstructionIds operands;
    for (InstructionId operand : old_operands) {
      if (!computation_[operand].IsConstant()) {
        operands.push_back(computation_[operand].operand(0));
        continue;
      }
      std::optional<Literal> value = LosslesslyConverted(
          module_, *ConstantLiteral(computation_, operand), *type);
      operands.push_back(computation_.AddInstruction(
          Instruction::Constant(*std::move(value))));
    }
    const InstructionId narrow = AddWithType(id, operands, *type);
    computation_.ReplaceWithNew(
        id,
        Instruction(Opcode::kConvert, computation_[id].shape_ptr(), {narrow}));
    for (InstructionId operand : old_operands) RemoveIfUnused(operand);
    return true;
  }

  static bool CanNarrowEarlier(const Computation& computation,
                               InstructionId id) {
    const Instruction& convert = computation[id];
    if (convert.opcode() != Opcode::kConvert ||
        computation.HasControlDependency(id)) {
      return false;
    }
    const InstructionId source = convert.operand(0);
    const Instruction& op = computation[source];
    const ElementType type = convert.shape().element_type();
    return OnlyMovesElements(op.opcode()) && op.users().size() == 1 &&
           source != computation.root() && op.attributes().others.empty() &&
           !computation.HasControlDependency(source) && !IsSubByte(type) &&
           BitWidth(op.shape().element_type()) > BitWidth(type);
  }

  bool NarrowEarlier(InstructionId id, std::vector<InstructionId>& worklist) {
    if (!CanNarrowEarlier(computation_, id)) return false;
    const InstructionId op = computation_[id].operand(0);
    const ElementType type = TypeOf(computation_, id);
    InstructionIds operands;
    for (InstructionId operand : computation_[op].operands()) {
      operands.push_back(computation_.AddInstruction(Instruction(
          Opcode::kConvert,
          WithElementType(computation_[operand].shape(), type), {operand})));
      worklist.push_back(operands.back());
    }
    const InstructionId narrow = AddWithType(op, operands, type);
    computation_.ReplaceAllUses(id, narrow);
    computation_.Remove(id);
    RemoveIfUnused(op);
    return true;
  }

  // Adds the operation `id` on operands of another type.
  InstructionId AddWithType(InstructionId id, const InstructionIds& operands,
                            ElementType type) {
    Instruction instruction = computation_[id].WithOperands(operands);
    instruction.set_shape(WithElementType(computation_[id].shape(), type));
    return computation_.AddInstruction(std::move(instruction));
  }

  void RemoveIfUnused(InstructionId id) {
    if (computation_[id].is_live() && computation_[id].users().empty() &&
        id != computation_.root() && !computation_.HasControlDependency(id)) {
      computation_.Remove(id);
    }
  }

  const Module& module_;
  Computation& computation_;
};

class ConvertMover final : public Pass {
 public:
  absl::string_view name() const override { return "convert-mover"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    bool changed = false;
    for (ComputationId c = 0; c < module.computation_slots(); ++c) {
      if (!module.has_computation(c) ||
          !Mover::HasWork(module, module.computation(c))) {
        continue;
      }
      changed |= Mover(module, module.mutable_computation(c)).Run();
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeConvertMover() {
  return std::make_unique<ConvertMover>();
}

}  // namespace hone::hlo
