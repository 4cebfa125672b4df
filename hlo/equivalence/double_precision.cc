#include "hlo/equivalence/double_precision.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "hlo/ir/computation.h"

namespace hone::hlo {
namespace {

ElementType Wide(ElementType type) {
  if (IsFloat(type)) return ElementType::kF64;
  if (IsComplex(type)) return ElementType::kC128;
  return type;
}

bool IsNarrow(const Shape& shape) {
  return shape.IsArray() && Wide(shape.element_type()) != shape.element_type();
}

ShapePtr WideShape(const ShapePtr& shape) {
  if (shape->IsTuple()) {
    std::vector<ShapePtr> elements;
    elements.reserve(shape->tuple_elements().size());
    bool changed = false;
    for (const ShapePtr& element : shape->tuple_elements()) {
      elements.push_back(WideShape(element));
      changed |= elements.back() != element;
    }
    return changed ? Shape::Tuple(std::move(elements)) : shape;
  }
  return IsNarrow(*shape) ? WithElementType(*shape, Wide(shape->element_type()))
                          : shape;
}

// Returns true if the instruction keeps the bits of its operand where it
// changes the type.
bool KeepsBits(const Computation& computation, const Instruction& instruction) {
  return instruction.opcode() == Opcode::kBitcastConvert ||
         (instruction.opcode() == Opcode::kBitcast &&
          computation[instruction.operand(0)].shape().element_type() !=
              instruction.shape().element_type());
}

// Returns true if the instruction only rounds.
bool Rounds(const Computation& computation, const Instruction& instruction) {
  if (instruction.opcode() == Opcode::kReducePrecision) return true;
  if (instruction.opcode() != Opcode::kConvert) return false;
  const ElementKind from =
      KindOf(computation[instruction.operand(0)].shape().element_type());
  return from == KindOf(instruction.shape().element_type()) &&
         (from == ElementKind::kFloat || from == ElementKind::kComplex);
}

// What an instruction was before shapes changed.
struct Narrow {
  InstructionId id;
  ShapePtr shape;
  ShapePtr operand_shape;
};

void WidenComputation(Computation& computation) {
  std::vector<Narrow> bits;
  std::vector<InstructionId> rounding;
  for (const Instruction& instruction : computation.instructions()) {
    if (KeepsBits(computation, instruction)) {
      bits.push_back({instruction.id(), instruction.shape_ptr(),
                      computation[instruction.operand(0)].shape_ptr()});
    } else if (Rounds(computation, instruction)) {
      rounding.push_back(instruction.id());
    }
  }
  for (const Instruction& instruction : computation.instructions()) {
    ShapePtr wide = WideShape(instruction.shape_ptr());
    if (wide == instruction.shape_ptr()) continue;
    Instruction& changed = computation.mutable_instruction(instruction.id());
    changed.set_shape(std::move(wide));
    if (changed.literal() != nullptr) {
      changed.set_literal(std::make_shared<const Literal>(
          InDoublePrecision(*changed.literal())));
    }
  }
  for (const Narrow& was : bits) {
    if (IsNarrow(*was.operand_shape)) {
      const InstructionId rounded = computation.AddInstruction(
          Instruction(Opcode::kConvert, was.operand_shape,
                      {computation[was.id].operand(0)}));
      computation.ReplaceOperand(was.id, 0, rounded);
    }
    if (!IsNarrow(*was.shape)) continue;
    computation.mutable_instruction(was.id).set_shape(was.shape);
    const InstructionId wide = computation.AddInstruction(
        Instruction(Opcode::kConvert, WideShape(was.shape), {was.id}));
    computation.ReplaceAllUses(was.id, wide);
  }
  for (InstructionId id : rounding) {
    computation.ReplaceAllUses(id, computation[id].operand(0));
  }
}

// Adds what widens `id`, of shape `shape`.
InstructionId Widened(Computation& computation, InstructionId id,
                      const ShapePtr& shape) {
  const ShapePtr wide = WideShape(shape);
  if (wide == shape) return id;
  if (!shape->IsTuple()) {
    return computation.AddInstruction(
        Instruction(Opcode::kConvert, wide, {id}));
  }
  std::vector<InstructionId> elements;
  for (size_t i = 0; i < shape->tuple_elements().size(); ++i) {
    const ShapePtr& element = shape->tuple_elements()[i];
    elements.push_back(
        Widened(computation,
                computation.AddInstruction(Instruction::GetTupleElement(
                    element, id, static_cast<int32_t>(i))),
                element));
  }
  return computation.AddInstruction(
      Instruction(Opcode::kTuple, wide, elements));
}

}  // namespace

Module InDoublePrecisionInside(Module module) {
  std::vector<ShapePtr> narrow;
  for (InstructionId parameter : module.entry_computation().parameters()) {
    narrow.push_back(module.entry_computation()[parameter].shape_ptr());
  }
  module = InDoublePrecision(std::move(module));
  Computation& entry = module.mutable_computation(module.entry());
  for (size_t i = 0; i < narrow.size(); ++i) {
    const InstructionId parameter = entry.parameters()[i];
    if (entry[parameter].shape_ptr() == narrow[i]) continue;
    // A stand-in keeps the uses apart from what widens the parameter.
    const InstructionId stand_in = entry.AddInstruction(
        Instruction(Opcode::kTuple, entry[parameter].shape_ptr(), {}));
    entry.ReplaceAllUses(parameter, stand_in);
    entry.mutable_instruction(parameter).set_shape(narrow[i]);
    entry.ReplaceAllUses(stand_in, Widened(entry, parameter, narrow[i]));
    entry.Remove(stand_in);
  }
  module.set_entry_shapes(module.entry_parameter_shapes(),
                          entry[entry.root()].shape_ptr());
  return module;
}

Module InDoublePrecision(Module module) {
  for (ComputationId id : module.ComputationIds()) {
    WidenComputation(module.mutable_computation(id));
  }
  return module;
}

Literal InDoublePrecision(const Literal& literal) {
  if (literal.shape().IsTuple()) {
    std::vector<Literal> elements;
    elements.reserve(literal.elements().size());
    for (const Literal& element : literal.elements()) {
      elements.push_back(InDoublePrecision(element));
    }
    return Literal::Tuple(std::move(elements));
  }
  ShapePtr shape = WideShape(literal.shape_ptr());
  if (shape == literal.shape_ptr()) return literal;
  if (literal.is_elided()) return Literal::Elided(std::move(shape));
  Literal wide(std::move(shape));
  const ElementType type = literal.shape().element_type();
  if (type == ElementType::kF32 || type == ElementType::kC64) {
    const auto* const from = reinterpret_cast<const float*>(literal.data());
    auto* const to = reinterpret_cast<double*>(wide.MutableData());
    const int64_t parts = type == ElementType::kC64 ? 2 : 1;
    std::copy(from, from + parts * literal.num_elements(), to);
    return wide;
  }
  const absl::Span<double> to = wide.mutable_values<double>();
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] = literal.AsDouble(static_cast<int64_t>(i));
  }
  return wide;
}

}  // namespace hone::hlo
