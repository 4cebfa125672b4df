// logistic-expander: spells the logistic function out.
//
//   logistic(x)  →  1 / (1 + exp(-x))
//
// For code generators that have no instruction of their own, and for rules that
// simplify exponentials. Legal always; the rounding differs in the last places.
// Five instructions for one, of which the constant can be shared. Not for ends
// of control dependencies and scheduled modules.

#include <memory>

#include "hlo/passes/registry.h"
#include "hlo/rewrite/builder.h"
#include "hlo/rewrite/rewrite_each.h"

namespace hone::hlo {
namespace {

void Expand(Computation& computation, InstructionId id) {
  const InstructionId x = computation[id].operand(0);
  const Shape& shape = computation[x].shape();
  InstructionId one = computation.AddInstruction(
      Instruction::Constant(Literal::Scalar(shape.element_type(), 1)));
  if (!shape.IsScalar()) {
    one = computation.AddInstruction(
        MakeBroadcast(computation, one, shape.dimensions(), {}));
  }
  const InstructionId negated =
      computation.AddInstruction(MakeUnary(Opcode::kNegate, computation, x));
  const InstructionId power = computation.AddInstruction(
      MakeUnary(Opcode::kExponential, computation, negated));
  const InstructionId denominator = computation.AddInstruction(
      MakeBinary(Opcode::kAdd, computation, power, one));
  computation.ReplaceWithNew(
      id, Instruction(Opcode::kDivide, computation[id].shape_ptr(),
                      {one, denominator}));
}

class LogisticExpander final : public Pass {
 public:
  absl::string_view name() const override { return "logistic-expander"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    const auto matches = [](const Computation& computation, InstructionId id) {
      return computation[id].opcode() == Opcode::kLogistic &&
             !computation[id].shape().is_dynamic() &&
             !computation.HasControlDependency(id);
    };
    return ExpandEach(module, matches, Expand);
  }
};

}  // namespace

std::unique_ptr<Pass> MakeLogisticExpander() {
  return std::make_unique<LogisticExpander>();
}

}  // namespace hone::hlo
