#include "loops/lowering/graph/clusters.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"

#include "loops/lowering/graph/opcode_traits.h"

namespace hone::loops {
namespace {

using hlo::InstructionId;
using hlo::kNoInstruction;
using hlo::Opcode;

// The largest number of nests in one kernel.
constexpr size_t kMaxMembers = 12;

bool StaysAlone(const ValueGraph& graph, const Fusion& fusion,
                InstructionId id) {
  const Opcode opcode = graph.computation()[id].opcode();
  return opcode == Opcode::kConvolution || opcode == Opcode::kDot ||
         opcode == Opcode::kDynamicUpdateSlice || opcode == Opcode::kScatter ||
         opcode == Opcode::kSort || fusion.IsTransposedDot(graph.leaves(id)[0]);
}

bool HasLoops(const ValueGraph& graph, const Fusion& fusion, InstructionId id) {
  const hlo::Instruction& instruction = graph.computation()[id];
  const Form form = FormOf(instruction);
  if ((form != Form::kExpression && form != Form::kLoops) ||
      IsSameBytes(instruction.opcode())) {
    return false;
  }
  const absl::Span<const ValueId> leaves = graph.leaves(id);
  return std::any_of(leaves.begin(), leaves.end(),
                     [&](ValueId leaf) { return fusion.IsStored(leaf); });
}

}  // namespace

Clusters::Clusters(const ValueGraph& graph, const Fusion& fusion)
    : graph_(graph),
      readers_(static_cast<size_t>(graph.size())),
      is_result_(static_cast<size_t>(graph.size())),
      roots_(kNoInstruction) {
  for (InstructionId id : graph.order()) {
    for (ValueId operand : graph.operands(id)) {
      readers_[static_cast<size_t>(operand)].push_back(id);
    }
  }
  for (ValueId result : graph.results()) {
    is_result_[static_cast<size_t>(result)] = true;
  }
  // Readers first.
  const std::vector<InstructionId>& order = graph.order();
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    if (!HasLoops(graph, fusion, *id)) continue;
    InstructionId root = *id;
    if (!StaysAlone(graph, fusion, *id)) {
      const InstructionId common = CommonRoot(*id);
      if (common != kNoInstruction && !StaysAlone(graph, fusion, common) &&
          members_[common].size() < kMaxMembers) {
        root = common;
      }
    }
    roots_[*id] = root;
    members_[root].push_back(*id);
  }
  for (InstructionId id : order) {
    if (root(id) == id) std::reverse(members_[id].begin(), members_[id].end());
  }
}

bool Clusters::VisitUsers(ValueId value,
                          absl::FunctionRef<bool(InstructionId)> visit) const {
  std::vector<ValueId> pending = {value};
  absl::flat_hash_set<ValueId> seen = {value};
  while (!pending.empty()) {
    const size_t next = static_cast<size_t>(pending.back());
    pending.pop_back();
    if (is_result_[next] && !visit(kNoInstruction)) return false;
    for (InstructionId reader : readers_[next]) {
      if (IsPlanStep(FormOf(graph_.computation()[reader]))) {
        if (!visit(reader)) return false;
      } else if (IsWritten(reader)) {
        if (!visit(root(reader))) return false;
      } else {
        for (ValueId leaf : graph_.leaves(reader)) {
          if (seen.insert(leaf).second) pending.push_back(leaf);
        }
      }
    }
  }
  return true;
}

InstructionId Clusters::CommonRoot(InstructionId id) const {
  InstructionId common = kNoInstruction;
  for (ValueId leaf : graph_.leaves(id)) {
    const bool has_common = VisitUsers(leaf, [&](InstructionId user) {
      // Results and the operands of control flow are not local.
      if (user == kNoInstruction || !IsWritten(user)) return false;
      if (common == kNoInstruction) common = user;
      return common == user;
    });
    if (!has_common) return kNoInstruction;
  }
  return common;
}

}  // namespace hone::loops
