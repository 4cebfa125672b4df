// tuple-simplifier: removes tuples that are made to be taken apart, and tuples
// that are taken apart to be made.
//
//   get-tuple-element(tuple(a, b)), index=1                          →  b
//   tuple(get-tuple-element(t), index=0, …, get-tuple-element(t), index=n-1)
//     for all n elements of t                                        →  t
//
// Legal always; ends of control dependencies are left alone, as are scheduled
// modules. The root may become the producer of the tuple, a while for example.

#include <memory>
#include <vector>

#include "hlo/passes/registry.h"

namespace hone::hlo {
namespace {

// The tuple that `tuple` takes apart and puts together again unchanged;
// kNoInstruction when it does something else.
InstructionId RebuiltTuple(const Computation& computation,
                           const Instruction& tuple) {
  InstructionId source = kNoInstruction;
  for (size_t i = 0; i < tuple.operand_count(); ++i) {
    const Instruction& element = computation[tuple.operand(i)];
    if (element.opcode() != Opcode::kGetTupleElement ||
        static_cast<size_t>(element.index()) != i ||
        (i > 0 && element.operand(0) != source)) {
      return kNoInstruction;
    }
    source = element.operand(0);
  }
  if (source == kNoInstruction ||
      !Shape::Equal(computation[source].shape(), tuple.shape())) {
    return kNoInstruction;
  }
  return source;
}

// What `id` can be replaced with; kNoInstruction for none.
InstructionId Simplified(const Computation& computation, InstructionId id) {
  const Instruction& instruction = computation[id];
  InstructionId result = kNoInstruction;
  if (instruction.opcode() == Opcode::kTuple) {
    result = RebuiltTuple(computation, instruction);
  } else if (instruction.opcode() == Opcode::kGetTupleElement) {
    const Instruction& tuple = computation[instruction.operand(0)];
    if (tuple.opcode() == Opcode::kTuple) {
      result = tuple.operand(static_cast<size_t>(instruction.index()));
    }
  }
  if (result == kNoInstruction || computation.HasControlDependency(id)) {
    return kNoInstruction;
  }
  return result;
}

bool HasWork(const Computation& computation) {
  for (InstructionId id = 0; id < computation.slot_count(); ++id) {
    if (computation[id].is_live() &&
        Simplified(computation, id) != kNoInstruction) {
      return true;
    }
  }
  return false;
}

class TupleSimplifier final : public Pass {
 public:
  absl::string_view name() const override { return "tuple-simplifier"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    bool changed = false;
    for (ComputationId c = 0; c < module.computation_slots(); ++c) {
      if (!module.has_computation(c) || !HasWork(module.computation(c))) {
        continue;
      }
      Computation& computation = module.mutable_computation(c);
      // Operands first, so that nested tuples collapse in one run.
      for (InstructionId id : computation.PostOrder()) {
        if (!computation[id].is_live()) continue;
        const InstructionId simplified = Simplified(computation, id);
        if (simplified == kNoInstruction) continue;
        computation.ReplaceAllUses(id, simplified);
        computation.RemoveWithUnusedOperands(id);
        changed = true;
      }
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeTupleSimplifier() {
  return std::make_unique<TupleSimplifier>();
}

}  // namespace hone::hlo
