#include "loops/lowering/graph/clusters.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"

#include "loops/lowering/graph/opcode_traits.h"

namespace hone::loops {
namespace {

using hlo::InstructionId;
using hlo::kNoInstruction;
using hlo::Opcode;

// The largest number of nests in one kernel.
constexpr size_t kMaxMembers = 12;
// The largest array that the epilogue of a contraction reads: one that a cache
// holds. Others are read by tile with the latency of memory.
constexpr int64_t kMostEpilogueBytes = 1 << 20;
// The most work per element of an operand that is computed in the kernel of its
// product. More takes longer than memory, and needs registers of the product.
constexpr int64_t kMostPrologueWork = 24;

bool IsContraction(const ValueGraph& graph, InstructionId id) {
  const Opcode opcode = graph.computation()[id].opcode();
  return opcode == Opcode::kConvolution || opcode == Opcode::kDot;
}

// Returns true if one side of a dot is a vector. Its sums may go along the
// vectors, one result at a time, in which an epilogue would be no vectors.
bool HasVectorSide(const ValueGraph& graph, InstructionId id) {
  const hlo::Instruction& dot = graph.computation()[id];
  if (dot.opcode() != Opcode::kDot) return false;
  const auto has_free = [&](size_t side, const hlo::DimensionVector& batch,
                            const hlo::DimensionVector& contracting) {
    const hlo::DimensionVector& dimensions =
        graph.dimensions(graph.operands(id)[side]);
    for (size_t d = 0; d < dimensions.size(); ++d) {
      const auto at = static_cast<int64_t>(d);
      if (dimensions[d] != 1 && !absl::c_linear_search(batch, at) &&
          !absl::c_linear_search(contracting, at)) {
        return true;
      }
    }
    return false;
  };
  const hlo::DotDimensions& d = *dot.attributes().dot;
  return !has_free(0, d.lhs_batch, d.lhs_contracting) ||
         !has_free(1, d.rhs_batch, d.rhs_contracting);
}

bool StaysAlone(const ValueGraph& graph, const Fusion& fusion,
                InstructionId id) {
  const Opcode opcode = graph.computation()[id].opcode();
  return IsContraction(graph, id) || opcode == Opcode::kDynamicUpdateSlice ||
         opcode == Opcode::kScatter || opcode == Opcode::kSort ||
         fusion.IsTransposedDot(graph.leaves(id)[0]);
}

// A map, too, has each element from the same one of each operand.
bool MapsElements(Opcode opcode) {
  return hlo::IsElementwise(opcode) || opcode == Opcode::kMap;
}

// Returns true if `reader` is elementwise, and computes each element from the
// one of `value` at the same place and from no other, through values that are
// computed where they are read, and other arrays that it reads are not large.
bool IsEpilogue(const ValueGraph& graph, const Fusion& fusion,
                InstructionId reader, ValueId value) {
  // An instruction, and whether its elements are read in place.
  using Visit = std::pair<InstructionId, bool>;
  std::vector<Visit> pending = {{reader, true}};
  absl::flat_hash_set<Visit> seen;
  while (!pending.empty()) {
    auto [id, in_place] = pending.back();
    pending.pop_back();
    if (!seen.insert({id, in_place}).second) continue;
    in_place = in_place && MapsElements(graph.computation()[id].opcode()) &&
               graph.dimensions(graph.leaves(id)[0]) == graph.dimensions(value);
    for (ValueId operand : graph.operands(id)) {
      if (operand == value) {
        if (!in_place) return false;
      } else if (!fusion.IsStored(operand)) {
        pending.push_back({graph[operand].instruction, in_place});
      } else if (graph[operand].shape->byte_size() > kMostEpilogueBytes) {
        return false;
      }
    }
  }
  return true;
}

// Returns true if each element of the instruction takes little work, and moves
// elements of what it reads by broadcasts and the like only, together with
// values that are computed where it reads them.
bool IsCheap(const ValueGraph& graph, const Fusion& fusion, InstructionId id) {
  std::vector<InstructionId> pending = {id};
  int64_t work = 0;
  while (!pending.empty()) {
    const hlo::Instruction& next = graph.computation()[pending.back()];
    const std::vector<ValueId>& operands = graph.operands(pending.back());
    pending.pop_back();
    work += FormOf(next) == Form::kGiven ? 0 : WorkOf(next);
    if (work > kMostPrologueWork ||
        (FormOf(next) != Form::kGiven && next.opcode() != Opcode::kIota &&
         !hlo::IsElementwise(next.opcode()) && !IsReindexing(next.opcode()))) {
      return false;
    }
    for (ValueId operand : operands) {
      if (!fusion.IsStored(operand)) {
        pending.push_back(graph[operand].instruction);
      }
    }
  }
  return true;
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
    const InstructionId common = CommonRoot(*id);
    const bool may_join =
        common != kNoInstruction &&
        (MayJoin(fusion, *id, common) ||
         (IsPrologue(fusion, *id, common) && !HasOwnMembers(fusion, *id)));
    const InstructionId root = may_join ? common : *id;
    roots_[*id] = root;
    members_[root].push_back(*id);
  }
  for (InstructionId id : order) {
    if (root(id) == id) std::reverse(members_[id].begin(), members_[id].end());
  }
}

bool Clusters::MayJoin(const Fusion& fusion, InstructionId id,
                       InstructionId root) const {
  const std::vector<InstructionId>& others = members_.at(root);
  if (IsContraction(graph_, id)) {
    return others.size() == 1 && !StaysAlone(graph_, fusion, root) &&
           !HasVectorSide(graph_, id) &&
           IsEpilogue(graph_, fusion, root, graph_.leaves(id)[0]);
  }
  return !StaysAlone(graph_, fusion, id) && others.size() < kMaxMembers &&
         std::none_of(others.begin(), others.end(), [&](InstructionId other) {
           return StaysAlone(graph_, fusion, other);
         });
}

bool Clusters::IsPrologue(const Fusion& fusion, InstructionId id,
                          InstructionId root) const {
  if (FormOf(graph_.computation()[id]) != Form::kExpression ||
      members_.at(root).size() >= kMaxMembers || !IsCheap(graph_, fusion, id)) {
    return false;
  }
  while (true) {
    const ValueId value = graph_.leaves(id)[0];
    const std::vector<InstructionId>& readers =
        readers_[static_cast<size_t>(value)];
    if (readers.size() != 1 || is_result_[static_cast<size_t>(value)]) {
      return false;
    }
    id = readers[0];
    if (IsContraction(graph_, id)) return true;
    if (IsWritten(id) || !IsReindexing(graph_.computation()[id].opcode())) {
      return false;
    }
  }
}

bool Clusters::HasOwnMembers(const Fusion& fusion, InstructionId id) {
  roots_[id] = id;
  members_[id] = {id};
  std::vector<ValueId> pending = graph_.operands(id);
  absl::flat_hash_set<ValueId> seen;
  bool has_members = false;
  while (!pending.empty() && !has_members) {
    const ValueId value = pending.back();
    pending.pop_back();
    if (!seen.insert(value).second) continue;
    const InstructionId source = graph_[value].instruction;
    if (!fusion.IsStored(value)) {
      const std::vector<ValueId>& operands = graph_.operands(source);
      pending.insert(pending.end(), operands.begin(), operands.end());
    } else {
      has_members = HasLoops(graph_, fusion, source) &&
                    CommonRoot(source) == id && MayJoin(fusion, source, id);
    }
  }
  roots_[id] = kNoInstruction;
  members_[id].clear();
  return has_members;
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
