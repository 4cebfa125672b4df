#include "hlo/evaluator/evaluable.h"

#include <algorithm>
#include <utility>

#include "hlo/evaluator/kernels.h"

namespace hone::hlo {
namespace {

using evaluator::UnimplementedError;

bool HasOnlyArrays(const Shape& shape) {
  if (!shape.IsTuple()) return shape.IsArray();
  return std::all_of(
      shape.tuple_elements().begin(), shape.tuple_elements().end(),
      [](const ShapePtr& element) { return HasOnlyArrays(*element); });
}

// What is wrong with the instruction itself.
absl::Status CheckAlone(const Computation& computation,
                        const Instruction& instruction) {
  const Attributes& attributes = instruction.attributes();
  switch (instruction.opcode()) {
    case Opcode::kParameter:
      return HasOnlyArrays(instruction.shape())
                 ? absl::OkStatus()
                 : UnimplementedError(instruction,
                                      "expected an array or a tuple of arrays");
    case Opcode::kConstant:
      if (instruction.literal() == nullptr ||
          HasElidedValues(*instruction.literal())) {
        return UnimplementedError(instruction,
                                  "its values were left out of the text");
      }
      return absl::OkStatus();
    case Opcode::kCustomCall:
      return (attributes.custom_call_target == "TopK" &&
              instruction.operand_count() == 1) ||
                     evaluator::IsLapackCall(computation, instruction)
                 ? absl::OkStatus()
                 : UnimplementedError(instruction);
    case Opcode::kRngBitGenerator:
      return attributes.rng_algorithm == RandomAlgorithm::kDefault
                 ? UnimplementedError(
                       instruction,
                       "each backend has its own default algorithm")
                 : absl::OkStatus();
    case Opcode::kDot:
      return instruction.operand_count() == 2
                 ? absl::OkStatus()
                 : UnimplementedError(instruction, "sparse operands");
    case Opcode::kGetDimensionSize:
      return computation[instruction.operand(0)].shape().is_dynamic_dimension(
                 attributes.dimensions.front())
                 ? UnimplementedError(instruction, "the size is dynamic")
                 : absl::OkStatus();
    default:
      return evaluator::KernelFor(instruction.opcode()) == nullptr
                 ? UnimplementedError(instruction)
                 : absl::OkStatus();
  }
}

}  // namespace

Evaluability::Evaluability(const Module& module)
    : roots_(static_cast<size_t>(module.computation_slots())) {
  for (ComputationId id : module.ComputationPostOrder()) {
    const Computation& computation = module.computation(id);
    std::vector<absl::Status> found(
        static_cast<size_t>(computation.slot_count()));
    for (InstructionId i : computation.PostOrder()) {
      const Instruction& instruction = computation[i];
      absl::Status& status = found[static_cast<size_t>(i)];
      for (InstructionId operand : instruction.operands()) {
        status.Update(found[static_cast<size_t>(operand)]);
      }
      status.Update(CheckAlone(computation, instruction));
      for (ComputationId callee : instruction.called()) {
        status.Update(roots_[static_cast<size_t>(callee)]);
      }
    }
    roots_[static_cast<size_t>(id)] =
        found[static_cast<size_t>(computation.root())];
    if (id == module.entry()) entry_ = std::move(found);
  }
}

absl::Status Evaluability::Check(InstructionId id) const {
  return entry_[static_cast<size_t>(id)];
}

}  // namespace hone::hlo
