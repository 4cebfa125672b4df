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
#include <vector>

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

// Returns true if both do the same to slices of the same arrays.
bool AreSimilar(const Rewriter& r, InstructionId a, InstructionId b) {
  const Instruction& other = r[b];
  if (r[a].opcode() != other.opcode() ||
      r.shape(a).element_type() != r.shape(b).element_type() ||
      !(r[a].attributes() == other.attributes()) || !IsOnSlices(r, b)) {
    return false;
  }
  for (size_t i = 0; i < other.operand_count(); ++i) {
    if (r.operand(r.operand(a, i), 0) != r.operand(other.operand(i), 0)) {
      return false;
    }
  }
  return true;
}

bool Sink(Rewriter& r, InstructionId id) {
  if (!IsOnSlices(r, id)) return false;
  const InstructionId source = r.operand(r.operand(id, 0), 0);
  std::vector<InstructionId> group;
  for (InstructionId slice : r[source].users()) {
    if (!r.Is(slice, Opcode::kSlice)) continue;
    for (InstructionId user : r[slice].users()) {
      if (AreSimilar(r, id, user)) group.push_back(user);
    }
  }
  // Users are in no order, and an operation may use two slices of one array.
  std::sort(group.begin(), group.end());
  group.erase(std::unique(group.begin(), group.end()), group.end());
  int64_t elements = 0;
  for (InstructionId user : group) elements += r.shape(user).num_elements();
  if (elements < r.shape(source).num_elements()) return false;

  InstructionIds sources;
  for (InstructionId operand : r[id].operands()) {
    sources.push_back(r.operand(operand, 0));
  }
  const InstructionId whole = MakeLike(r, id, sources);
  bool changed = false;
  for (InstructionId user : group) {
    changed |= r.Replace(
        user, MakeSlice(r, whole, r[r.operand(user, 0)].attributes().slice));
  }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> MakeSliceSinker() {
  // IsOnSlices asks whether the instruction may be replaced, after cheaper
  // questions.
  return MakeRulePass({.name = "slice-sinker", .checks_itself = true}, Sink);
}

}  // namespace hone::hlo
