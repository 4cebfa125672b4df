// map-inline: does what a map applies to each element to whole arrays.
//
//   map(x, y), to_apply=(a, b) -> op(a, b)  →  op(x, y)
//   map(x, y), to_apply=(a, b) -> b         →  y
//   map(x), to_apply=(a) -> constant        →  broadcast(constant)
//
// Legal where op is elementwise. Functions of more than one operation stay
// maps, as upstream. Not for ends of control dependencies and scheduled
// modules.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "hlo/passes/registry.h"
#include "hlo/rewrite/builder.h"

namespace hone::hlo {
namespace {

bool IsInlineable(const Module& module, const Computation& computation,
                  InstructionId id) {
  if (!computation[id].is_live() || computation[id].opcode() != Opcode::kMap ||
      computation.HasControlDependency(id)) {
    return false;
  }
  const Computation& function = module.computation(computation[id].called()[0]);
  const Instruction& root = function[function.root()];
  for (InstructionId i = 0; i < function.slot_count(); ++i) {
    if (function[i].is_live() && module.HasSideEffect(function[i])) {
      return false;
    }
  }
  if (root.opcode() == Opcode::kParameter) return true;
  if (root.IsConstant()) return !root.literal()->is_elided();
  return IsElementwise(root.opcode()) &&
         std::all_of(root.operands().begin(), root.operands().end(),
                     [&](InstructionId operand) {
                       return function[operand].opcode() == Opcode::kParameter;
                     });
}

void Inline(const Computation& function, Computation& computation,
            InstructionId id) {
  const Instruction& map = computation[id];
  const Instruction& root = function[function.root()];
  if (root.opcode() == Opcode::kParameter) {
    computation.ReplaceAllUses(id,
                               map.operand(static_cast<size_t>(root.index())));
    computation.RemoveWithUnusedOperands(id);
    return;
  }
  if (root.IsConstant()) {
    InstructionId value = computation.AddInstruction(root.WithOperands({}));
    if (!map.shape().IsScalar()) {
      value = computation.AddInstruction(
          MakeBroadcast(computation, value, map.shape().dimensions(), {}));
    }
    computation.ReplaceAllUses(id, value);
    computation.RemoveWithUnusedOperands(id);
    return;
  }
  InstructionIds operands;
  for (InstructionId operand : root.operands()) {
    operands.push_back(
        map.operand(static_cast<size_t>(function[operand].index())));
  }
  Instruction operation = root.WithOperands(operands);
  operation.set_shape(map.shape_ptr());
  computation.ReplaceWithNew(id, std::move(operation));
}

class MapInline final : public Pass {
 public:
  absl::string_view name() const override { return "map-inline"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    bool changed = false;
    // Callees first, so that a map in a function that a map applies is gone.
    for (ComputationId c : module.ComputationPostOrder()) {
      std::vector<InstructionId> maps;
      const Computation& shared = module.computation(c);
      for (InstructionId id = 0; id < shared.slot_count(); ++id) {
        if (IsInlineable(module, shared, id)) maps.push_back(id);
      }
      for (InstructionId id : maps) {
        Computation& computation = module.mutable_computation(c);
        if (!computation[id].is_live()) continue;
        Inline(module.computation(computation[id].called()[0]), computation,
               id);
        changed = true;
      }
    }
    if (changed) module.RemoveUnreachableComputations();
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeMapInline() { return std::make_unique<MapInline>(); }

}  // namespace hone::hlo
