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

// The boundaries of a start index: zero, and the last one at which the slice
// lies within the array.
void AddRange(size_t operand, int64_t last, std::vector<Boundary>& boundaries) {
  boundaries.push_back({operand, std::nullopt, 0});
  boundaries.push_back({operand, std::nullopt, static_cast<double>(last)});
}

// Returns true if the operand is one number or repeats one.
bool IsRepeated(const Computation& computation, InstructionId id) {
  const Instruction& instruction = computation[id];
  if (!instruction.shape().IsArray() ||
      instruction.shape().num_elements() == 0 ||
      !(IsFloat(instruction.shape().element_type()) ||
        IsIntegral(instruction.shape().element_type()))) {
    return false;
  }
  return instruction.shape().num_elements() == 1 ||
         (instruction.opcode() == Opcode::kBroadcast &&
          computation[instruction.operand(0)].shape().num_elements() == 1);
}

}  // namespace

std::vector<Boundary> BoundariesOf(const Computation& computation,
                                   const Instruction& instruction) {
  std::vector<Boundary> boundaries;
  switch (instruction.opcode()) {
    case Opcode::kCompare:
    case Opcode::kMinimum:
    case Opcode::kMaximum:
    case Opcode::kClamp:
      if (!std::all_of(instruction.operands().begin(),
                       instruction.operands().end(),
                       [&](InstructionId operand) {
                         return IsRepeated(computation, operand);
                       })) {
        break;
      }
      if (instruction.opcode() == Opcode::kClamp) {
        boundaries = {{1, 0, 0}, {1, 2, 0}};
      } else {
        boundaries = {{0, 1, 0}};
      }
      break;
    case Opcode::kConditional:
      if (IsRepeated(computation, instruction.operand(0))) {
        AddRange(0, static_cast<int64_t>(instruction.called().size()) - 1,
                 boundaries);
      }
      break;
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice: {
      const bool updates = instruction.opcode() == Opcode::kDynamicUpdateSlice;
      const Shape& whole = computation[instruction.operand(0)].shape();
      const Shape& slice = updates ? computation[instruction.operand(1)].shape()
                                   : instruction.shape();
      const size_t first = updates ? 2 : 1;
      // An older form has one array of start indices.
      if (instruction.operand_count() !=
          first + static_cast<size_t>(whole.rank())) {
        break;
      }
      for (int64_t i = 0; i < whole.rank(); ++i) {
        AddRange(first + static_cast<size_t>(i),
                 whole.dimension(i) - slice.dimension(i), boundaries);
      }
      break;
    }
    default:
      break;
  }
  return boundaries;
}

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
