// conditional-to-select: computes both branches of a conditional inside a
// region that runs once per element.
//
//   conditional(p, x, y), branches f and g  →  select(p, f(x), g(y)), inlined
//
// in what map, reduce, sort and the like apply, where a branch costs more than
// both sides and keeps elements from being computed together. Elsewhere a
// conditional saves the other branch (simplify-conditional judges those).
//
// Legal for two branches on a pred that have no effect and surely end (no
// loops), with an array as the result. Not for ends of control dependencies and
// scheduled modules.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "hlo/ir/clone.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/builder.h"

namespace hone::hlo {
namespace {

// Whether the callees of an instruction run once per element, not as a part of
// the control flow.
bool AppliesPerElement(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kMap:
    case Opcode::kReduce:
    case Opcode::kReduceScatter:
    case Opcode::kReduceWindow:
    case Opcode::kScatter:
    case Opcode::kSelectAndScatter:
    case Opcode::kSort:
      return true;
    default:
      return false;
  }
}

// The computations that run per element only, callers before callees.
std::vector<ComputationId> FindRegions(const Module& module) {
  const auto slots = static_cast<size_t>(module.computation_slots());
  std::vector<bool> in_region(slots, false);
  std::vector<bool> in_flow(slots, false);
  in_flow[static_cast<size_t>(module.entry())] = true;
  std::vector<ComputationId> order = module.ComputationPostOrder();
  std::reverse(order.begin(), order.end());
  std::vector<ComputationId> regions;
  for (ComputationId c : order) {
    const auto slot = static_cast<size_t>(c);
    const Computation& computation = module.computation(c);
    for (InstructionId id = 0; id < computation.slot_count(); ++id) {
      const bool per_element = AppliesPerElement(computation[id].opcode());
      for (ComputationId callee : computation[id].called()) {
        const auto i = static_cast<size_t>(callee);
        in_region[i] = in_region[i] || in_region[slot] || per_element;
        in_flow[i] = in_flow[i] || (in_flow[slot] && !per_element);
      }
    }
    if (in_region[slot] && !in_flow[slot]) regions.push_back(c);
  }
  return regions;
}

// Whether a run of the branch has no effect and ends. Calls and conditionals in
// it may hide a loop.
bool IsHarmless(const Module& module, const Computation& branch) {
  for (InstructionId id = 0; id < branch.slot_count(); ++id) {
    const Instruction& instruction = branch[id];
    if (!instruction.is_live()) continue;
    if (module.HasSideEffect(instruction) || branch.HasControlDependency(id) ||
        (!instruction.called().empty() &&
         !AppliesPerElement(instruction.opcode()))) {
      return false;
    }
  }
  return true;
}

bool IsSelectable(const Module& module, const Computation& computation,
                  InstructionId id) {
  const Instruction& conditional = computation[id];
  return conditional.is_live() &&
         conditional.opcode() == Opcode::kConditional &&
         conditional.operand_count() == 3 && conditional.shape().IsArray() &&
         KindOf(computation[conditional.operand(0)].shape().element_type()) ==
             ElementKind::kPred &&
         !computation.HasControlDependency(id) &&
         IsHarmless(module, module.computation(conditional.called()[0])) &&
         IsHarmless(module, module.computation(conditional.called()[1]));
}

void ReplaceBySelect(const Module& module, Computation& computation,
                     InstructionId id) {
  const Instruction& conditional = computation[id];
  InstructionIds values;
  for (size_t branch = 0; branch < 2; ++branch) {
    values.push_back(CloneInto(module.computation(conditional.called()[branch]),
                               {conditional.operand(branch + 1)}, computation));
  }
  InstructionId predicate = conditional.operand(0);
  if (!conditional.shape().IsScalar()) {
    predicate = computation.AddInstruction(MakeBroadcast(
        computation, predicate, conditional.shape().dimensions(), {}));
  }
  computation.ReplaceWithNew(
      id, Instruction(Opcode::kSelect, conditional.shape_ptr(),
                      {predicate, values[0], values[1]}));
}

class ConditionalToSelect final : public Pass {
 public:
  absl::string_view name() const override { return "conditional-to-select"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    bool any = false;
    for (ComputationId c = 0; c < module.computation_slots() && !any; ++c) {
      any = module.has_computation(c) && HasConditional(module.computation(c));
    }
    if (!any) return false;
    bool changed = false;
    int64_t budget = CloningBudget(module);
    std::vector<ComputationId> regions = FindRegions(module);
    // Callees first, so that nested conditionals are inlined as selects.
    std::reverse(regions.begin(), regions.end());
    for (ComputationId c : regions) {
      const InstructionId slots = module.computation(c).slot_count();
      for (InstructionId id = 0; id < slots; ++id) {
        const Computation& shared = module.computation(c);
        if (!IsSelectable(module, shared, id)) continue;
        int64_t added = 0;
        for (ComputationId branch : shared[id].called()) {
          added += module.computation(branch).live_count();
        }
        if (added > budget) continue;
        budget -= added;
        ReplaceBySelect(module, module.mutable_computation(c), id);
        changed = true;
      }
    }
    if (changed) module.RemoveUnreachableComputations();
    return changed;
  }

 private:
  static bool HasConditional(const Computation& computation) {
    for (InstructionId id = 0; id < computation.slot_count(); ++id) {
      if (computation[id].is_live() &&
          computation[id].opcode() == Opcode::kConditional) {
        return true;
      }
    }
    return false;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeConditionalToSelect() {
  return std::make_unique<ConditionalToSelect>();
}

}  // namespace hone::hlo
