// conditional-to-select: computes both branches of a conditional inside a
// region that runs once per element.
//
//   conditional(p, x, y), branches f and g  →  select(p, f(x), g(y)), inlined
//
// in what map, reduce, sort and the like apply, where a branch costs more than
// both sides and keeps elements from being computed together. Elsewhere a
// conditional saves the other branch (simplify-conditional judges those).
//
// Exact. Legal for two branches on a pred that have no effect and surely end
// (no loops), with an array of static sizes as the result. Not for ends of
// control dependencies and scheduled modules.

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "hlo/ir/id_map.h"
#include "hlo/passes/control_flow/select_branches.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/callees.h"
#include "hlo/rewrite/driver.h"

namespace hone::hlo {
namespace {

// Returns true if the callees of an instruction run once per element, not as a
// part of the control flow.
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

// Marks the computations that run per element only.
IdMap<bool> FindRegions(const Module& module) {
  IdMap<bool> in_region;
  IdMap<bool> in_flow;
  in_flow[module.entry()] = true;
  std::vector<ComputationId> order = module.ComputationPostOrder();
  std::reverse(order.begin(), order.end());
  IdMap<bool> regions;
  for (ComputationId c : order) {
    for (const Instruction& instruction :
         module.computation(c).instructions()) {
      const bool per_element = AppliesPerElement(instruction.opcode());
      for (ComputationId callee : instruction.called()) {
        in_region[callee] |= in_region.at(c) || per_element;
        in_flow[callee] |= in_flow.at(c) && !per_element;
      }
    }
    regions[c] = in_region.at(c) && !in_flow.at(c);
  }
  return regions;
}

// Returns true if a run of the branch surely ends. Calls and conditionals in it
// may hide a loop.
bool IsHarmless(const Computation& branch) {
  for (const Instruction& instruction : branch.instructions()) {
    if (!instruction.called().empty() &&
        !AppliesPerElement(instruction.opcode())) {
      return false;
    }
  }
  return !branch.has_control_dependencies();
}

class ConditionalToSelect final : public Pass {
 public:
  absl::string_view name() const override { return "conditional-to-select"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& options) const override {
    // Callees first, so that nested conditionals are inlined as selects.
    const RewriteRule rule = {.name = name(),
                              .opcodes = {Opcode::kConditional},
                              .call_order = CallOrder::kCalleesFirst,
                              .drops_callees = true};
    Callees callees(module);
    std::optional<IdMap<bool>> regions;
    const auto rewrite = [&](Rewriter& r, InstructionId id) {
      if (!regions.has_value()) regions = FindRegions(module);
      return regions->at(r.computation().id()) && r.shape(id).IsArray() &&
             MaySelectBranches(r, id) &&
             IsHarmless(module.computation(r[id].called()[0])) &&
             IsHarmless(module.computation(r[id].called()[1])) &&
             SelectBranches(r, id, callees);
    };
    return RewriteModule(module, rule, options, rewrite);
  }
};

}  // namespace

std::unique_ptr<Pass> MakeConditionalToSelect() {
  return std::make_unique<ConditionalToSelect>();
}

}  // namespace hone::hlo
