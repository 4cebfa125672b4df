// zero_sized_hlo_elimination: an array without elements is a constant.
//
//   f32[0,3] multiply(a, b)   →   f32[0,3] constant({})
//
// Legal because there is only one such value. Not touched: parameters, opaque
// instructions and callers of them, ends of control dependencies, dynamic
// shapes, scheduled modules.

#include <memory>

#include "hlo/passes/registry.h"

namespace hone::hlo {
namespace {

bool IsEmptyArray(const Shape& shape) {
  return shape.IsArray() && !shape.is_dynamic() && shape.num_elements() == 0;
}

class ZeroSizedHloElimination final : public Pass {
 public:
  absl::string_view name() const override {
    return "zero_sized_hlo_elimination";
  }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    bool changed = false;
    for (ComputationId c = 0; c < module.computation_slots(); ++c) {
      if (!module.has_computation(c)) continue;
      const InstructionId slots = module.computation(c).slot_count();
      for (InstructionId id = 0; id < slots; ++id) {
        if (!IsReplaceable(module, module.computation(c), id)) continue;
        Computation& computation = module.mutable_computation(c);
        const InstructionId empty = computation.AddInstruction(
            Instruction::Constant(Literal(computation[id].shape_ptr())));
        computation.ReplaceAllUses(id, empty);
        computation.RemoveWithUnusedOperands(id);
        changed = true;
      }
    }
    return changed;
  }

 private:
  static bool IsReplaceable(const Module& module,
                            const Computation& computation, InstructionId id) {
    const Instruction& instruction = computation[id];
    return instruction.is_live() && IsEmptyArray(instruction.shape()) &&
           !instruction.IsConstant() &&
           instruction.opcode() != Opcode::kParameter &&
           !module.HasSideEffect(instruction) &&
           !computation.HasControlDependency(id);
  }
};

}  // namespace

std::unique_ptr<Pass> MakeZeroSizedHloElimination() {
  return std::make_unique<ZeroSizedHloElimination>();
}

}  // namespace hone::hlo
