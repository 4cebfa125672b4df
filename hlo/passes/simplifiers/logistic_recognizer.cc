// logistic-recognizer: names the logistic function where it is spelt out.
//
//   1 / (1 + exp(-x))  →  logistic(x)
//
// For backends with an instruction for it; the reverse of logistic-expander,
// with which it must not share a loop. Legal for floating-point x; the rounding
// differs in the last places. Only where nothing else uses the sum. Hone's own:
// upstream expands the function and leaves it so.

#include <memory>

#include "hlo/passes/registry.h"
#include "hlo/rewrite/builder.h"
#include "hlo/rewrite/rewrite_each.h"

namespace hone::hlo {
namespace {

bool Recognize(Rewriter& r, InstructionId id) {
  const auto is_one = [&](InstructionId value) {
    return IsUniform(r.computation(), value, 1);
  };
  if (!IsFloat(r.shape(id).element_type()) || !is_one(r.operand(id, 0))) {
    return false;
  }
  const InstructionId sum = r.operand(id, 1);
  if (!r.Is(sum, Opcode::kAdd) || !r.DiesWith(sum, id)) return false;
  for (size_t i = 0; i < 2; ++i) {
    const InstructionId power = r.operand(sum, i);
    if (!r.Is(power, Opcode::kExponential) || !is_one(r.operand(sum, 1 - i))) {
      continue;
    }
    const InstructionId negation = r.operand(power, 0);
    if (!r.Is(negation, Opcode::kNegate)) continue;
    return r.Replace(id,
                     MakeUnary(r, Opcode::kLogistic, r.operand(negation, 0)));
  }
  return false;
}

class LogisticRecognizer final : public Pass {
 public:
  absl::string_view name() const override { return "logistic-recognizer"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    return RewriteEach(module, IsOpcode(Opcode::kDivide), Recognize);
  }
};

}  // namespace

std::unique_ptr<Pass> MakeLogisticRecognizer() {
  return std::make_unique<LogisticRecognizer>();
}

}  // namespace hone::hlo
