#include "hlo/ir/clone.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/check.h"
#include "hlo/ir/id_map.h"

namespace hone::hlo {

InstructionId CloneInstructions(
    const Computation& source, absl::Span<const InstructionId> arguments,
    absl::FunctionRef<InstructionId(Instruction)> add,
    absl::FunctionRef<void(InstructionId, InstructionId)> order) {
  IdMap<InstructionId> copies(kNoInstruction);
  for (InstructionId id : source.PostOrder()) {
    const Instruction& instruction = source[id];
    if (instruction.opcode() == Opcode::kParameter) {
      copies[id] = arguments[static_cast<size_t>(instruction.index())];
      continue;
    }
    InstructionIds operands;
    for (InstructionId operand : instruction.operands()) {
      operands.push_back(copies.at(operand));
    }
    copies[id] = add(instruction.WithOperands(operands));
    for (InstructionId predecessor : source.control_predecessors(id)) {
      order(copies.at(id), copies.at(predecessor));
    }
  }
  return copies.at(source.root());
}

InstructionId CloneInto(const Computation& source,
                        absl::Span<const InstructionId> arguments,
                        Computation& target) {
  HONE_CHECK(source.parameters().size() == arguments.size());
  return CloneInstructions(
      source, arguments,
      [&](Instruction copy) { return target.AddInstruction(std::move(copy)); },
      [&](InstructionId successor, InstructionId predecessor) {
        target.AddControlPredecessor(successor, predecessor);
      });
}

int64_t CloningBudget(const Module& module) {
  constexpr int64_t kMinimum = 100'000;
  return std::max(kMinimum, module.instruction_count());
}

ComputationId ComputationCloner::Clone(ComputationId id) {
  if (names_.empty()) {
    for (const Computation& computation : module_.computations()) {
      names_.emplace(computation.name(), 0);
    }
  }
  Computation copy = module_.computation(id);
  int& next = names_[copy.name()];
  std::string name;
  do {
    name = absl::StrCat(copy.name(), ".clone");
    if (next > 0) absl::StrAppend(&name, ".", next);
    ++next;
  } while (names_.contains(name));
  names_.emplace(name, 0);
  copy.set_name(std::move(name));
  return module_.AddComputation(std::move(copy));
}

}  // namespace hone::hlo
