// simplify-sorts: drops operands of a sort that nothing needs.
//
//   s = (f32[8], s32[8], f32[8]) sort(keys, order, more), to_apply=f
//     where f compares keys only and element 2 of s has no users
//   →
//   s = (f32[8], s32[8]) sort(keys, order), to_apply=f'
//
// An operand is needed when its element of the result is, or when the
// comparator looks at its two values. Legal because the operands are permuted
// alike and the permutation depends on what the comparator looks at only. A
// sort whose result is used whole (not by get-tuple-element) is left alone, as
// are comparators with effects and scheduled modules.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "hlo/ir/clone.h"
#include "hlo/passes/registry.h"

namespace hone::hlo {
namespace {

// Which operands of the sort are needed; all where that is not known.
std::vector<bool> NeededOperands(const Module& module,
                                 const Computation& computation,
                                 InstructionId id) {
  const Instruction& sort = computation[id];
  const std::vector<bool> all(sort.operand_count(), true);
  if (!sort.shape().IsTuple() || id == computation.root() ||
      computation.HasControlDependency(id) || module.HasSideEffect(sort)) {
    return all;
  }
  std::vector<bool> needed(sort.operand_count(), false);
  for (InstructionId user : computation[id].users()) {
    if (computation[user].opcode() != Opcode::kGetTupleElement) return all;
    needed[static_cast<size_t>(computation[user].index())] = true;
  }
  const Computation& comparator = module.computation(sort.called()[0]);
  for (size_t i = 0; i < comparator.parameters().size(); ++i) {
    const InstructionId parameter = comparator.parameters()[i];
    if (!comparator[parameter].users().empty() ||
        parameter == comparator.root()) {
      needed[i / 2] = true;
    }
  }
  return needed;
}

// A comparator of the needed operands; parameters of the others are unused.
ComputationId NarrowComparator(Module& module, ComputationCloner& cloner,
                               ComputationId id,
                               const std::vector<bool>& needed) {
  const ComputationId clone = cloner.Clone(id);
  Computation& comparator = module.mutable_computation(clone);
  const std::vector<InstructionId> parameters = comparator.parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!needed[i / 2]) comparator.Remove(parameters[i]);
  }
  comparator.RenumberParameters();
  return clone;
}

void NarrowSort(Module& module, ComputationCloner& cloner,
                ComputationId computation_id, InstructionId id,
                const std::vector<bool>& needed) {
  const ComputationId comparator = NarrowComparator(
      module, cloner, module.computation(computation_id)[id].called()[0],
      needed);
  Computation& computation = module.mutable_computation(computation_id);
  InstructionIds operands;
  std::vector<ShapePtr> shapes;
  // By old index.
  std::vector<int32_t> new_index(needed.size(), -1);
  for (size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    new_index[i] = static_cast<int32_t>(operands.size());
    operands.push_back(computation[id].operand(i));
    shapes.push_back(
        computation[id].shape().tuple_element(static_cast<int64_t>(i)));
  }
  Instruction sort = computation[id].WithOperands(operands);
  sort.set_called({comparator});
  sort.set_name(computation[id].name());
  const bool is_tuple = operands.size() > 1;
  sort.set_shape(is_tuple ? Shape::Tuple(std::move(shapes)) : shapes[0]);
  const InstructionId narrow = computation.AddInstruction(std::move(sort));
  const InstructionIds elements = computation[id].users();
  for (InstructionId element : elements) {
    if (is_tuple) {
      computation.ReplaceOperand(element, 0, narrow);
      Instruction& instruction = computation.mutable_instruction(element);
      instruction.set_index(
          new_index[static_cast<size_t>(instruction.index())]);
    } else {
      computation.ReplaceAllUses(element, narrow);
      computation.Remove(element);
    }
  }
  computation.RemoveWithUnusedOperands(id);
}

class SimplifySorts final : public Pass {
 public:
  absl::string_view name() const override { return "simplify-sorts"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    if (module.is_scheduled()) return false;
    struct Site {
      ComputationId computation;
      InstructionId sort;
      std::vector<bool> needed;
    };
    std::vector<Site> sites;
    for (ComputationId c = 0; c < module.computation_slots(); ++c) {
      if (!module.has_computation(c)) continue;
      const Computation& computation = module.computation(c);
      for (InstructionId id = 0; id < computation.slot_count(); ++id) {
        if (computation[id].opcode() != Opcode::kSort) continue;
        std::vector<bool> needed = NeededOperands(module, computation, id);
        const bool some =
            std::find(needed.begin(), needed.end(), true) != needed.end();
        const bool all =
            std::find(needed.begin(), needed.end(), false) == needed.end();
        if (some && !all) sites.push_back({c, id, std::move(needed)});
      }
    }
    if (sites.empty()) return false;
    ComputationCloner cloner(module);
    for (const Site& site : sites) {
      NarrowSort(module, cloner, site.computation, site.sort, site.needed);
    }
    module.RemoveUnreachableComputations();
    return true;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeSimplifySorts() {
  return std::make_unique<SimplifySorts>();
}

}  // namespace hone::hlo
