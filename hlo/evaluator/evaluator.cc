#include "hlo/evaluator/evaluator.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "hlo/evaluator/context.h"
#include "hlo/evaluator/kernels.h"

namespace hone::hlo {

absl::StatusOr<Literal> Evaluate(const Module& module,
                                 absl::Span<const Literal> arguments,
                                 const EvaluateOptions& options) {
  const Computation& entry = module.entry_computation();
  const std::vector<InstructionId>& parameters = entry.parameters();
  if (arguments.size() != parameters.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        arguments.size(), " arguments given, expected ", parameters.size()));
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Shape& expected = entry[parameters[i]].shape();
    if (!Shape::Equal(arguments[i].shape(), expected)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "argument ", i, " has shape ", arguments[i].shape().ToString(),
          ", expected ", expected.ToString()));
    }
  }
  evaluator::Context context(module, options);
  return context.Run(module.entry(),
                     std::vector<Literal>(arguments.begin(), arguments.end()));
}

absl::StatusOr<Literal> EvaluateInstruction(const Module& module,
                                            const Computation& computation,
                                            InstructionId id,
                                            absl::Span<const Literal> operands,
                                            const EvaluateOptions& options) {
  const Instruction& instruction = computation[id];
  if (operands.size() != instruction.operand_count()) {
    return absl::InvalidArgumentError(
        absl::StrCat(operands.size(), " operands given, expected ",
                     instruction.operand_count()));
  }
  const evaluator::Kernel kernel = evaluator::KernelFor(instruction.opcode());
  if (kernel == nullptr) return evaluator::UnimplementedError(instruction);
  for (const Literal& operand : operands) {
    if (HasElidedValues(operand)) {
      return evaluator::UnimplementedError(
          instruction, "an operand's values were left out of the text");
    }
  }
  evaluator::Context context(module, options);
  std::vector<Literal> owned(operands.begin(), operands.end());
  ShapePtr operand_shape;
  if (instruction.opcode() == Opcode::kBitcast) {
    operand_shape = computation[instruction.operand(0)].shape_ptr();
  }
  return kernel(context,
                {instruction, absl::MakeSpan(owned), std::move(operand_shape)});
}

}  // namespace hone::hlo
