#include "hlo/evaluator/coverage.h"

#include <algorithm>

namespace hone::hlo {
namespace {

bool IsPredicate(const Instruction& instruction) {
  return instruction.shape().IsArray() &&
         instruction.shape().element_type() == ElementType::kPred &&
         instruction.shape().num_elements() > 0;
}

// Returns true for each instruction whose elements are all the same.
std::vector<bool> FindUniform(const Computation& computation) {
  std::vector<bool> uniform(static_cast<size_t>(computation.slot_count()));
  for (InstructionId id : computation.PostOrder()) {
    const Instruction& instruction = computation[id];
    if (!instruction.shape().IsArray()) continue;
    const bool keeps = IsElementwise(instruction.opcode()) ||
                       instruction.opcode() == Opcode::kBroadcast ||
                       instruction.opcode() == Opcode::kReshape ||
                       instruction.opcode() == Opcode::kTranspose;
    uniform[static_cast<size_t>(id)] =
        instruction.shape().num_elements() == 1 ||
        (keeps && instruction.operand_count() > 0 &&
         std::all_of(instruction.operands().begin(),
                     instruction.operands().end(), [&](InstructionId operand) {
                       return uniform[static_cast<size_t>(operand)];
                     }));
  }
  return uniform;
}

bool OnlyChoosesBranches(const Computation& computation,
                         const Instruction& instruction) {
  return !instruction.users().empty() &&
         std::all_of(instruction.users().begin(), instruction.users().end(),
                     [&](InstructionId user) {
                       return computation[user].opcode() ==
                              Opcode::kConditional;
                     });
}

// The scalar that a broadcast predicate repeats.
InstructionId Source(const Computation& computation, InstructionId id) {
  for (;;) {
    switch (computation[id].opcode()) {
      case Opcode::kBroadcast:
      case Opcode::kCopy:
      case Opcode::kReshape:
      case Opcode::kTranspose:
        id = computation[id].operand(0);
        continue;
      default:
        return id;
    }
  }
}

}  // namespace

std::vector<InstructionId> DecidingPredicates(const Computation& computation) {
  const std::vector<bool> uniform = FindUniform(computation);
  std::vector<InstructionId> predicates;
  for (const Instruction& instruction : computation.instructions()) {
    if (instruction.opcode() == Opcode::kCompare &&
        uniform[static_cast<size_t>(instruction.id())] &&
        IsPredicate(instruction) &&
        !OnlyChoosesBranches(computation, instruction)) {
      predicates.push_back(instruction.id());
    }
    if (instruction.opcode() != Opcode::kSelect ||
        !uniform[static_cast<size_t>(instruction.operand(0))]) {
      continue;
    }
    const InstructionId source = Source(computation, instruction.operand(0));
    if (IsPredicate(computation[source]) &&
        computation[source].opcode() != Opcode::kConstant) {
      predicates.push_back(source);
    }
  }
  std::sort(predicates.begin(), predicates.end());
  predicates.erase(std::unique(predicates.begin(), predicates.end()),
                   predicates.end());
  return predicates;
}

}  // namespace hone::hlo
