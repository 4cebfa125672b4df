// simplify-sorts: drops operands of a sort that nothing needs.
//
//   s = (f32[8], s32[8], f32[8]) sort(keys, order, more), to_apply=f
//     where f compares keys only and element 2 of s has no users
//   →
//   s = (f32[8], s32[8]) sort(keys, order), to_apply=f'
//
// An operand is needed when its element of the result is, or when the
// comparator looks at its two values. Legal because the operands are permuted
// alike and the permutation depends on what the comparator looks at only.
// Numeric class: exact. Left alone are dead sorts, which are dce's, those whose
// result is used whole (not by get-tuple-element), those with a sharding or
// frontend attributes, which belong to the tuple that they have, comparators
// with effects and scheduled modules.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "hlo/ir/clone.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/carried_attributes.h"
#include "hlo/rewrite/driver.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/tuples/elements.h"

namespace hone::hlo {
namespace {

// Which operands of the sort are needed; empty if it may not be narrowed.
std::vector<bool> NeededOperands(const Rewriter& r, InstructionId id) {
  const Instruction& sort = r[id];
  if (!sort.shape().IsTuple() || sort.users().empty() ||
      !UsesElementsOnly(r.computation(), id) || IsAnnotated(sort)) {
    return {};
  }
  std::vector<bool> needed(sort.operand_count(), false);
  for (InstructionId user : sort.users()) {
    needed[static_cast<size_t>(r[user].index())] = true;
    if (!r.MayReplace(user, /*dynamic=*/true)) return {};
  }
  const Computation& comparator = r.module().computation(sort.called()[0]);
  for (size_t i = 0; i < comparator.parameters().size(); ++i) {
    const InstructionId parameter = comparator.parameters()[i];
    if (!comparator[parameter].users().empty() ||
        parameter == comparator.root() ||
        comparator.HasControlDependency(parameter)) {
      needed[i / 2] = true;
    }
  }
  return needed;
}

class SortNarrower {
 public:
  explicit SortNarrower(Module& module) : cloner_(module) {}

  bool Narrow(Rewriter& r, InstructionId id) {
    const std::vector<bool> needed = NeededOperands(r, id);
    const auto kept = std::count(needed.begin(), needed.end(), true);
    if (kept == 0 || kept == static_cast<std::ptrdiff_t>(needed.size())) {
      return false;
    }
    const InstructionIds elements = r[id].users();
    // One array carries the attributes of all that it stands for.
    if (kept == 1 && std::any_of(elements.begin(), elements.end(),
                                 [&](InstructionId element) {
                                   return r[element].attributes() !=
                                          r[elements[0]].attributes();
                                 })) {
      return false;
    }
    InstructionIds operands;
    std::vector<int32_t> new_index;  // by old index
    for (size_t i = 0; i < needed.size(); ++i) {
      new_index.push_back(static_cast<int32_t>(operands.size()));
      if (needed[i]) operands.push_back(r.operand(id, i));
    }
    if (IsAnnotated(r[id]) || AppliesAnnotated(r.module(), r[id]) ||
        r.LosesAnnotation(id, operands)) {
      return false;
    }
    Instruction sort = r[id].WithOperands(operands);
    sort.set_called({NarrowComparator(r, r[id].called()[0], needed)});
    sort.set_shape(nullptr);
    const InstructionId narrow = r.Add(std::move(sort));
    for (InstructionId element : elements) {
      const size_t old_index = static_cast<size_t>(r[element].index());
      r.Replace(element, kept == 1 ? narrow
                                   : MakeGetTupleElement(r, narrow,
                                                         new_index[old_index]));
    }
    return true;
  }

 private:
  // A comparator of the needed operands.
  ComputationId NarrowComparator(Rewriter& r, ComputationId id,
                                 const std::vector<bool>& needed) {
    const ComputationId clone = cloner_.Clone(id);
    Rewriter narrow(r, clone);
    const std::vector<InstructionId> parameters =
        narrow.computation().parameters();
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (!needed[i / 2]) narrow.RemoveDead(parameters[i], true);
    }
    narrow.RenumberParameters();
    r.Include(narrow);
    return clone;
  }

  ComputationCloner cloner_;
};

class SimplifySorts final : public Pass {
 public:
  absl::string_view name() const override { return "simplify-sorts"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& options) const override {
    SortNarrower narrower(module);
    return RewriteModule(module,
                         {.name = name(),
                          .opcodes = {Opcode::kSort},
                          .dynamic = true,
                          .drops_callees = true},
                         options, [&](Rewriter& r, InstructionId id) {
                           return narrower.Narrow(r, id);
                         });
  }
};

}  // namespace

std::unique_ptr<Pass> MakeSimplifySorts() {
  return std::make_unique<SimplifySorts>();
}

}  // namespace hone::hlo
