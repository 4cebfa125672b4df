#include "hlo/ir/control_edges.h"

#include <algorithm>
#include <utility>

namespace hone::hlo {

absl::Span<const InstructionId> ControlEdges::predecessors(
    InstructionId id) const {
  if (empty()) return {};
  const auto it = predecessors_.find(id);
  if (it == predecessors_.end()) return {};
  return it->second;
}

void ControlEdges::Add(InstructionId predecessor, InstructionId successor) {
  predecessors_[successor].push_back(predecessor);
  successors_[predecessor].push_back(successor);
}

void ControlEdges::Erase(Edges& edges, InstructionId from, InstructionId to) {
  const auto it = edges.find(from);
  if (it == edges.end()) return;
  std::vector<InstructionId>& ends = it->second;
  ends.erase(std::remove(ends.begin(), ends.end(), to), ends.end());
  if (ends.empty()) edges.erase(it);
}

void ControlEdges::Remove(InstructionId id) {
  if (empty()) return;
  if (auto before = predecessors_.extract(id)) {
    for (InstructionId end : before.mapped()) Erase(successors_, end, id);
  }
  if (auto after = successors_.extract(id)) {
    for (InstructionId end : after.mapped()) Erase(predecessors_, end, id);
  }
}

void ControlEdges::MoveSuccessors(InstructionId old,
                                  InstructionId replacement) {
  const auto it = successors_.find(old);
  if (it == successors_.end()) return;
  const std::vector<InstructionId> moved = std::move(it->second);
  successors_.erase(it);
  for (InstructionId successor : moved) {
    if (successor == replacement) {
      successors_[old].push_back(successor);
      continue;
    }
    // Keeps the place in the list.
    std::vector<InstructionId>& before = predecessors_[successor];
    const bool known =
        std::find(before.begin(), before.end(), replacement) != before.end();
    if (known) {
      Erase(predecessors_, successor, old);
    } else {
      *std::find(before.begin(), before.end(), old) = replacement;
      successors_[replacement].push_back(successor);
    }
  }
}

void ControlEdges::Bypass(InstructionId id) {
  const absl::Span<const InstructionId> ends = predecessors(id);
  const std::vector<InstructionId> before(ends.begin(), ends.end());
  std::vector<InstructionId> after;
  if (const auto it = successors_.find(id); it != successors_.end()) {
    after = it->second;
  }
  Remove(id);
  for (InstructionId successor : after) {
    for (InstructionId predecessor : before) {
      const auto known = predecessors(successor);
      if (std::find(known.begin(), known.end(), predecessor) == known.end()) {
        Add(predecessor, successor);
      }
    }
  }
}

void ControlEdges::Renumber(
    absl::FunctionRef<InstructionId(InstructionId)> renumbered) {
  for (Edges* edges : {&predecessors_, &successors_}) {
    Edges result;
    for (auto& [id, ends] : *edges) {
      for (InstructionId& end : ends) end = renumbered(end);
      result.emplace(renumbered(id), std::move(ends));
    }
    *edges = std::move(result);
  }
}

}  // namespace hone::hlo
