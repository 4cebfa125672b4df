#ifndef HONE_HLO_IR_CONTROL_EDGES_H_
#define HONE_HLO_IR_CONTROL_EDGES_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

#include "hlo/ir/instruction.h"

namespace hone::hlo {

// The control dependencies of a computation: edges from an instruction to one
// that must run after it though no data flows.
class ControlEdges {
 public:
  bool empty() const { return predecessors_.empty(); }
  // Returns true if `id` is an end of an edge. Constant time.
  bool Contains(InstructionId id) const {
    return predecessors_.contains(id) || successors_.contains(id);
  }
  // In the order in which they were added.
  absl::Span<const InstructionId> predecessors(InstructionId id) const;

  void Add(InstructionId predecessor, InstructionId successor);
  // Removes the edges of `id`.
  void Remove(InstructionId id);
  // Makes the successors of `old`, other than `replacement`, successors of
  // `replacement`.
  void MoveSuccessors(InstructionId old, InstructionId replacement);
  // Lets each predecessor of `id` run before each of its successors instead.
  void Bypass(InstructionId id);
  // Replaces each id by `renumbered(id)`, no two by the same.
  void Renumber(absl::FunctionRef<InstructionId(InstructionId)> renumbered);

 private:
  using Edges = absl::flat_hash_map<InstructionId, std::vector<InstructionId>>;

  // Removes `to` from the list of `from`, and the list when it gets empty.
  static void Erase(Edges& edges, InstructionId from, InstructionId to);

  Edges predecessors_;
  Edges successors_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_IR_CONTROL_EDGES_H_
