#ifndef HONE_LOOPS_LOWERING_GRAPH_CLUSTERS_H_
#define HONE_LOOPS_LOWERING_GRAPH_CLUSTERS_H_

#include <vector>

#include "absl/functional/function_ref.h"

#include "hlo/ir/id_map.h"
#include "loops/lowering/graph/fusion.h"
#include "loops/lowering/graph/value_graph.h"

namespace hone::loops {

// Groups stored instructions into kernels. An instruction joins the kernel of
// its readers if they are all in the same one, so that its result is local
// there: a softmax is one kernel, and so is a layer normalization. A dot or
// convolution joins only what reads it element by element, its epilogue, and
// nothing else does; products with a vector have none. An operand of it that is
// cheaply computed element by element joins it, its prologue, unless that would
// take the operand from a kernel of its own: it is the epilogue of another
// product, or the end of a softmax. Sorts stay alone, since each is tuned
// separately, and scatters and dynamic-update-slices, since they may update
// their operand in place.
class Clusters {
 public:
  Clusters(const ValueGraph& graph, const Fusion& fusion);

  // Returns true if the instruction is in a kernel. Parameters, constants and
  // control flow are not, nor are values computed where they are read.
  bool IsWritten(hlo::InstructionId id) const {
    return root(id) != hlo::kNoInstruction;
  }
  // The last instruction of the kernel of `id`; kNoInstruction if it has none.
  hlo::InstructionId root(hlo::InstructionId id) const { return roots_.at(id); }
  // The instructions of the kernel that ends with `root`, operands first.
  const std::vector<hlo::InstructionId>& members(
      hlo::InstructionId root) const {
    return members_.at(root);
  }

  // Calls visit(id) for each user of `value`: the root of a kernel, or control
  // flow, that reads it, directly or through values computed where they are
  // read; and visit(kNoInstruction) if it, or such a value, is a result of the
  // computation. May visit a user repeatedly. Stops, and returns false, once
  // `visit` does.
  bool VisitUsers(ValueId value,
                  absl::FunctionRef<bool(hlo::InstructionId)> visit) const;

 private:
  // Returns true if the instruction may be in the kernel of `root`, which all
  // of its readers are in.
  bool MayJoin(const Fusion& fusion, hlo::InstructionId id,
               hlo::InstructionId root) const;
  // Returns true if the instruction computes an operand of a dot or convolution
  // in the kernel of `root` at little cost, and nothing else reads it.
  bool IsPrologue(const Fusion& fusion, hlo::InstructionId id,
                  hlo::InstructionId root) const;
  // Returns true if something that the instruction reads may be in its kernel,
  // if it has one of its own.
  bool HasOwnMembers(const Fusion& fusion, hlo::InstructionId id);
  // The common root of all readers of the instruction; kNoInstruction if they
  // have none.
  hlo::InstructionId CommonRoot(hlo::InstructionId id) const;

  const ValueGraph& graph_;
  std::vector<std::vector<hlo::InstructionId>> readers_;  // by value
  std::vector<bool> is_result_;                           // likewise
  hlo::IdMap<hlo::InstructionId> roots_;
  // The members of each cluster, by its root.
  hlo::IdMap<std::vector<hlo::InstructionId>> members_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_GRAPH_CLUSTERS_H_
