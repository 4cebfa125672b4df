#include "hlo/passes/movement/elementwise_groups.h"

#include <cstdint>
#include <vector>

#include "hlo/ir/id_map.h"

namespace hone::hlo {
namespace {

// Returns true if the instruction may be rebuilt on arrays of another form.
bool IsMovable(const Rewriter& r, InstructionId id) {
  const Instruction& instruction = r[id];
  const Opcode opcode = instruction.opcode();
  return IsElementwise(opcode) && !IsOpaque(opcode) &&
         opcode != Opcode::kCopy && opcode != Opcode::kBitcastConvert &&
         instruction.operand_count() > 0 && instruction.shape().rank() > 0 &&
         r.MayReplace(id);
}

// Sets that grow together (union-find).
class DisjointSets {
 public:
  int32_t Add() {
    parent_.push_back(static_cast<int32_t>(parent_.size()));
    return parent_.back();
  }
  int32_t Find(int32_t set) {
    while (At(set) != set) set = At(set) = At(At(set));
    return set;
  }
  void Merge(int32_t set, int32_t into) { At(Find(set)) = Find(into); }

 private:
  int32_t& At(int32_t set) { return parent_[static_cast<size_t>(set)]; }

  std::vector<int32_t> parent_;
};

}  // namespace

std::vector<Group> FindElementwiseGroups(const Rewriter& r) {
  IdMap<int32_t> set_of(-1);
  DisjointSets sets;
  std::vector<InstructionId> movable;
  for (InstructionId id : r.computation().PostOrder()) {
    if (!IsMovable(r, id)) continue;
    movable.push_back(id);
    const int32_t set = set_of[id] = sets.Add();
    for (InstructionId operand : r[id].operands()) {
      if (set_of.at(operand) >= 0 &&
          r.dimensions_of(operand) == r.dimensions_of(id)) {
        sets.Merge(set, set_of.at(operand));
      }
    }
  }
  std::vector<Group> groups;
  IdMap<int32_t> group_of(-1);
  for (InstructionId id : movable) {
    int32_t& group = group_of[sets.Find(set_of[id])];
    if (group < 0) {
      group = static_cast<int32_t>(groups.size());
      groups.emplace_back();
    }
    groups[static_cast<size_t>(group)].push_back(id);
  }
  return groups;
}

}  // namespace hone::hlo
