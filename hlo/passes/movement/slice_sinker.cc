// slice-sinker: computes once what slices of the same arrays have in common.
//
//   p = negate(slice(a), slice={[0:6]})
//   q = negate(slice(a), slice={[4:10]})
//   →
//   n = negate(a)
//   p = slice(n), slice={[0:6]}
//   q = slice(n), slice={[4:10]}
//
// for groups of one elementwise operation on slices of the same arrays, each
// with the same slice of all its operands. Legal always; exact; done when the
// slices together have at least as many elements as the array, so that nothing
// is computed in vain.

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

// Returns true if `id` is elementwise on slices of arrays of equal dimensions,
// all slices alike.
bool IsOnSlices(const Rewriter& r, InstructionId id) {
  const Instruction& instruction = r[id];
  if (!IsElementwise(instruction.opcode()) || IsOpaque(instruction.opcode()) ||
      instruction.operand_count() == 0 || !r.MayReplace(id)) {
    return false;
  }
  const InstructionId first = instruction.operand(0);
  if (r.dimensions_of(id) != r.dimensions_of(first)) return false;
  return std::all_of(
      instruction.operands().begin(), instruction.operands().end(),
      [&](InstructionId operand) {
        return r.Is(operand, Opcode::kSlice) && r.MayReplace(operand) &&
               r[operand].attributes().slice == r[first].attributes().slice &&
               r.dimensions_of(r.operand(operand, 0)) ==
                   r.dimensions_of(r.operand(first, 0));
      });
}

class Sinker {
 public:
  explicit Sinker(Rewriter& r) : r_(r) {}

  void Run() {
    std::vector<InstructionId> ids;
    for (const Instruction& instruction : r_.computation().instructions()) {
      ids.push_back(instruction.id());
    }
    for (InstructionId id : ids) {
      if (r_.computation().Contains(id) && !staying_.contains(id) &&
          IsOnSlices(r_, id)) {
        Sink(id);
      }
    }
  }

 private:
  // The opcode, the element type and the sliced arrays.
  using Key = std::tuple<Opcode, ElementType, std::vector<InstructionId>>;

  Key KeyOf(InstructionId id) const {
    std::vector<InstructionId> sources;
    for (InstructionId slice : r_[id].operands()) {
      sources.push_back(r_.operand(slice, 0));
    }
    return {r_[id].opcode(), r_.shape(id).element_type(), std::move(sources)};
  }

  // Adds the operations on slices of `source` to the index.
  void Index(InstructionId source) {
    if (!indexed_.insert(source).second) return;
    for (InstructionId slice : r_[source].users()) {
      if (!r_.Is(slice, Opcode::kSlice)) continue;
      for (InstructionId user : r_[slice].users()) {
        // Those on slices of several arrays come with the first of them.
        if (IsOnSlices(r_, user) && r_.operand(user, 0) == slice) {
          on_slices_[KeyOf(user)].push_back(user);
        }
      }
    }
  }

  // Those that do the same to slices of the same arrays, in order.
  std::vector<InstructionId> Group(InstructionId id) {
    Index(r_.operand(r_.operand(id, 0), 0));
    std::vector<InstructionId> group;
    for (InstructionId other : on_slices_[KeyOf(id)]) {
      if (r_[id].attributes() == r_[other].attributes()) group.push_back(other);
    }
    std::sort(group.begin(), group.end());
    return group;
  }

  void Sink(InstructionId id) {
    const InstructionId source = r_.operand(r_.operand(id, 0), 0);
    const std::vector<InstructionId> group = Group(id);
    int64_t elements = 0;
    for (InstructionId user : group) elements += r_.shape(user).num_elements();
    // The rest of the group need not be asked until something changes.
    staying_.insert(group.begin(), group.end());
    if (elements < r_.shape(source).num_elements()) return;

    InstructionIds sources;
    for (InstructionId slice : r_[id].operands()) {
      sources.push_back(r_.operand(slice, 0));
    }
    const InstructionId whole = MakeLike(r_, id, sources);
    bool changed = false;
    for (InstructionId user : group) {
      changed |= r_.Replace(
          user,
          MakeSlice(r_, whole, r_[r_.operand(user, 0)].attributes().slice));
    }
    r_.EndRewrite();
    if (!changed) return;
    indexed_.clear();
    on_slices_.clear();
    staying_.clear();
  }

  Rewriter& r_;
  // Valid until the next change: the sources in the index, the operations on
  // their slices, and the operations that stay.
  absl::flat_hash_set<InstructionId> indexed_;
  absl::flat_hash_map<Key, std::vector<InstructionId>> on_slices_;
  absl::flat_hash_set<InstructionId> staying_;
};

}  // namespace

std::unique_ptr<Pass> MakeSliceSinker() {
  return MakeRulePass({.name = "slice-sinker", .opcodes = {Opcode::kSlice}},
                      [](Rewriter& r) { Sinker(r).Run(); });
}

}  // namespace hone::hlo
