#include "hlo/equivalence/influence.h"

#include <algorithm>
#include <utility>

namespace hone::hlo {
namespace {

// Scalar parameters that have a bit of their own.
constexpr size_t kBits = 63;

size_t SizeOf(const Shape& shape) {
  return shape.IsTuple() ? shape.tuple_elements().size() : 1;
}

ScalarSet Union(const std::vector<ScalarSet>& value) {
  ScalarSet all = 0;
  for (ScalarSet element : value) all |= element;
  return all;
}

// Returns true if `into` grew.
bool Merge(std::vector<ScalarSet>& into, const std::vector<ScalarSet>& from) {
  into.resize(std::max(into.size(), from.size()));
  bool grew = false;
  for (size_t i = 0; i < from.size(); ++i) {
    grew |= (from[i] & ~into[i]) != 0;
    into[i] |= from[i];
  }
  return grew;
}

}  // namespace

Influence::Influence(const Module& module, absl::Span<const size_t> scalars)
    : module_(module) {
  const Computation& entry = module.entry_computation();
  Values arguments;
  for (InstructionId parameter : entry.parameters()) {
    arguments.emplace_back(SizeOf(entry[parameter].shape()));
  }
  for (size_t i = 0; i < scalars.size(); ++i) {
    arguments[scalars[i]][0] = ScalarSet{1} << std::min(i, kBits);
  }
  Visit(module.entry(), arguments);
}

ScalarSet Influence::Of(ComputationId computation, InstructionId id) const {
  const auto it = values_.find(computation);
  return it == values_.end() ? 0 : Union(it->second[static_cast<size_t>(id)]);
}

Influence::Value Influence::Visit(ComputationId id, const Values& arguments) {
  const Computation& computation = module_.computation(id);
  Values values = values_[id];
  values.resize(static_cast<size_t>(computation.slot_count()));
  for (InstructionId i : computation.PostOrder()) {
    const Instruction& instruction = computation[i];
    const Value value =
        instruction.opcode() == Opcode::kParameter
            ? arguments[static_cast<size_t>(instruction.index())]
            : VisitInstruction(computation, instruction, values);
    Merge(values[static_cast<size_t>(i)], value);
  }
  Value root = values[static_cast<size_t>(computation.root())];
  values_[id] = std::move(values);
  return root;
}

Influence::Value Influence::VisitInstruction(const Computation& computation,
                                             const Instruction& instruction,
                                             const Values& values) {
  Values operands;
  ScalarSet all = 0;
  for (InstructionId operand : instruction.operands()) {
    operands.push_back(values[static_cast<size_t>(operand)]);
    all |= Union(operands.back());
  }
  switch (instruction.opcode()) {
    case Opcode::kTuple: {
      Value value;
      for (const Value& operand : operands) value.push_back(Union(operand));
      return value;
    }
    case Opcode::kGetTupleElement:
      if (operands[0].size() ==
          SizeOf(computation[instruction.operand(0)].shape())) {
        all = operands[0][static_cast<size_t>(instruction.index())];
      }
      break;
    case Opcode::kCall:
    case Opcode::kFusion:
      return Visit(instruction.called()[0], operands);
    case Opcode::kWhile:
      return VisitWhile(instruction, std::move(operands[0]));
    case Opcode::kConditional: {
      // The branch that is taken depends on the selector.
      Value value(SizeOf(instruction.shape()), Union(operands[0]));
      for (size_t i = 0; i < instruction.called().size(); ++i) {
        Merge(value, Visit(instruction.called()[i], {operands[i + 1]}));
      }
      return value;
    }
    default:
      break;
  }
  return Value(SizeOf(instruction.shape()), all);
}

Influence::Value Influence::VisitWhile(const Instruction& loop, Value state) {
  for (;;) {
    // How often the body runs depends on the condition.
    const ScalarSet condition = Union(Visit(loop.called()[0], {state}));
    Value next = Visit(loop.called()[1], {state});
    for (ScalarSet& element : next) element |= condition;
    if (!Merge(state, next)) return state;
  }
}

std::vector<size_t> ScalarParameters(const Module& module) {
  const Computation& entry = module.entry_computation();
  std::vector<size_t> scalars;
  for (size_t i = 0; i < entry.parameters().size(); ++i) {
    const Shape& shape = entry[entry.parameters()[i]].shape();
    if (shape.IsArray() && shape.num_elements() == 1 &&
        !IsComplex(shape.element_type())) {
      scalars.push_back(i);
    }
  }
  return scalars;
}

}  // namespace hone::hlo
