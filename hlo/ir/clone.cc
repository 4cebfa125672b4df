#include "hlo/ir/clone.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/check.h"

namespace hone::hlo {

InstructionId CloneInto(const Computation& source,
                        absl::Span<const InstructionId> arguments,
                        Computation& target) {
  HONE_CHECK(source.parameters().size() == arguments.size());
  std::vector<InstructionId> copies(static_cast<size_t>(source.slot_count()),
                                    kNoInstruction);
  const auto copy_of = [&](InstructionId id) {
    return copies[static_cast<size_t>(id)];
  };
  for (InstructionId id : source.PostOrder()) {
    InstructionId& copy = copies[static_cast<size_t>(id)];
    if (source[id].opcode() == Opcode::kParameter) {
      copy = arguments[static_cast<size_t>(source[id].index())];
      continue;
    }
    InstructionIds operands;
    for (InstructionId operand : source[id].operands()) {
      operands.push_back(copy_of(operand));
    }
    copy = target.AddInstruction(source[id].WithOperands(operands));
    for (InstructionId predecessor : source.control_predecessors(id)) {
      target.AddControlPredecessor(copy, copy_of(predecessor));
    }
  }
  return copy_of(source.root());
}

int64_t CloningBudget(const Module& module) {
  constexpr int64_t kMinimum = 100'000;
  return std::max(kMinimum, module.instruction_count());
}

ComputationCloner::ComputationCloner(Module& module) : module_(module) {
  for (ComputationId id = 0; id < module.computation_slots(); ++id) {
    if (module.has_computation(id)) {
      names_.emplace(module.computation(id).name(), 0);
    }
  }
}

ComputationId ComputationCloner::Clone(ComputationId id) {
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
