#include "loops/lowering/plan/slot_values.h"

#include <algorithm>

#include "absl/algorithm/container.h"

#include "loops/lowering/graph/opcode_traits.h"

namespace hone::loops {
namespace {

using hlo::InstructionId;
using hlo::kNoInstruction;

// The largest number of instructions to look at in search of a dependence.
constexpr size_t kMaxSearch = 4000;

}  // namespace

SlotValues::SlotValues(const ValueGraph& graph, const Clusters& clusters)
    : graph_(graph), clusters_(clusters), positions_(-1) {
  int32_t position = 0;
  for (InstructionId id : graph.order()) positions_[id] = position++;
}

void SlotValues::Add(ValueId value, SlotId slot) {
  slots_.emplace(value, slot);
  values_[slot].push_back(value);
}

void SlotValues::Overwrite(SlotId slot, ValueId value) {
  values_[slot].clear();
  Add(value, slot);
}

bool SlotValues::Begin(InstructionId user) {
  if (!begun_.insert(user).second) return false;
  open_.push_back(user);
  return true;
}

void SlotValues::End() { open_.pop_back(); }

std::optional<SlotId> SlotValues::Find(ValueId value) const {
  const auto at = slots_.find(value);
  if (at == slots_.end()) return std::nullopt;
  return at->second;
}

std::optional<std::vector<InstructionId>> SlotValues::ReadersBefore(
    SlotId slot, InstructionId user) const {
  std::vector<InstructionId> readers;
  const auto add = [&](InstructionId reader) {
    if (reader == user) return true;
    if (reader == kNoInstruction || WaitsForOpen(reader)) return false;
    if (!begun_.contains(reader)) readers.push_back(reader);
    return true;
  };
  const auto held = values_.find(slot);
  if (held == values_.end()) return readers;
  for (ValueId value : held->second) {
    if (!clusters_.VisitUsers(value, add)) return std::nullopt;
  }
  return readers;
}

bool SlotValues::Reads(ValueId value, SlotId slot) const {
  std::vector<ValueId> pending = {value};
  absl::flat_hash_set<ValueId> seen = {value};
  while (!pending.empty()) {
    const ValueId next = pending.back();
    pending.pop_back();
    if (const auto found = Find(graph_.Source(next))) {
      if (*found == slot) return true;
      continue;
    }
    const InstructionId id = graph_[next].instruction;
    // Another step computes it, and has read the slot if it does.
    if (clusters_.IsWritten(id)) continue;
    const Form form = FormOf(graph_.computation()[id]);
    if (IsPlanStep(form) || form == Form::kGiven) continue;
    for (ValueId operand : graph_.operands(id)) {
      if (seen.insert(operand).second) pending.push_back(operand);
    }
  }
  return false;
}

bool SlotValues::WaitsForOpen(InstructionId user) const {
  if (absl::c_linear_search(open_, user)) return true;
  if (begun_.contains(user) || open_.empty()) return false;
  // Operands come first: nothing before the open steps depends on them.
  const auto position = [this](InstructionId id) { return positions_.at(id); };
  int32_t first = position(open_[0]);
  for (InstructionId id : open_) first = std::min(first, position(id));
  std::vector<InstructionId> pending = {user};
  absl::flat_hash_set<InstructionId> seen = {user};
  while (!pending.empty()) {
    const InstructionId next = pending.back();
    pending.pop_back();
    for (ValueId operand : graph_.operands(next)) {
      const InstructionId id = graph_[operand].instruction;
      if (position(id) < first || !seen.insert(id).second) continue;
      if (absl::c_linear_search(open_, id) || seen.size() > kMaxSearch) {
        return true;
      }
      pending.push_back(id);
    }
  }
  return false;
}

}  // namespace hone::loops
