// simplify-fp-conversions: leaves out the steps of a chain of conversions.
//
//   convert(convert(convert(x)))  →  convert(x), or x where the type is the
//   same
//
// between floating-point types. Legal where every type on the way holds every
// value of x, so that only the last step rounds. A step that rounds stays:
// upstream drops it where excess precision is allowed, but it is part of the
// meaning. Not for ends of control dependencies and scheduled modules.

#include <algorithm>
#include <memory>
#include <vector>

#include "hlo/passes/registry.h"

namespace hone::hlo {
namespace {

// Whether every value of `from` is one of `to`.
bool IsLossless(ElementType from, ElementType to) {
  if (from == to) return true;
  switch (from) {
    case ElementType::kBf16:
    case ElementType::kF16:
      return to == ElementType::kF32 || to == ElementType::kF64;
    case ElementType::kF32:
      return to == ElementType::kF64;
    default:
      return false;
  }
}

bool IsStep(const Computation& computation, InstructionId id) {
  return computation[id].opcode() == Opcode::kConvert &&
         IsFloat(computation[id].shape().element_type());
}

// Where the chain that ends with `id` can start, at least two steps away;
// kNoInstruction for nowhere.
InstructionId StartOfChain(const Computation& computation, InstructionId id) {
  if (!IsStep(computation, id) || computation.HasControlDependency(id)) {
    return kNoInstruction;
  }
  InstructionId start = kNoInstruction;
  std::vector<ElementType> passed;
  InstructionId step = computation[id].operand(0);
  while (IsStep(computation, step)) {
    passed.push_back(computation[step].shape().element_type());
    step = computation[step].operand(0);
    const ElementType from = computation[step].shape().element_type();
    if (std::all_of(passed.begin(), passed.end(),
                    [&](ElementType type) { return IsLossless(from, type); })) {
      start = step;
    }
  }
  return start;
}

bool HasWork(const Computation& computation) {
  for (InstructionId id = 0; id < computation.slot_count(); ++id) {
    if (computation[id].is_live() &&
        StartOfChain(computation, id) != kNoInstruction) {
      return true;
    }
  }
  return false;
}

class SimplifyFpConversions final : public Pass {
 public:
  absl::string_view name() const override { return "simplify-fp-conversions"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    bool changed = false;
    for (ComputationId c = 0; c < module.computation_slots(); ++c) {
      if (!module.has_computation(c) || !HasWork(module.computation(c))) {
        continue;
      }
      Computation& computation = module.mutable_computation(c);
      // Operands first, so that chains stay short.
      for (InstructionId id : computation.PostOrder()) {
        if (!computation[id].is_live()) continue;
        const InstructionId start = StartOfChain(computation, id);
        if (start == kNoInstruction) continue;
        Simplify(computation, id, start);
        changed = true;
      }
    }
    return changed;
  }

 private:
  static void Simplify(Computation& computation, InstructionId id,
                       InstructionId start) {
    if (computation[start].shape().element_type() !=
        computation[id].shape().element_type()) {
      const InstructionId old_step = computation[id].operand(0);
      computation.ReplaceOperand(id, 0, start);
      if (computation[old_step].users().empty() &&
          old_step != computation.root() &&
          !computation.HasControlDependency(old_step)) {
        computation.RemoveWithUnusedOperands(old_step);
      }
      return;
    }
    computation.ReplaceAllUses(id, start);
    computation.RemoveWithUnusedOperands(id);
  }
};

}  // namespace

std::unique_ptr<Pass> MakeSimplifyFpConversions() {
  return std::make_unique<SimplifyFpConversions>();
}

}  // namespace hone::hlo
