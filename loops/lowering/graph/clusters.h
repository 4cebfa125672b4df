#ifndef HONE_LOOPS_LOWERING_GRAPH_CLUSTERS_H_
#define HONE_LOOPS_LOWERING_GRAPH_CLUSTERS_H_

#include <vector>

#include "hlo/ir/id_map.h"
#include "loops/lowering/graph/fusion.h"
#include "loops/lowering/graph/value_graph.h"

namespace hone::loops {

// Groups stored instructions into kernels. An instruction joins the kernel of
// its readers if they are all in the same one, so that its result is local
// there: a softmax is one kernel, and so is a layer normalization. Dots,
// convolutions, sorts and scatters stay alone, since each is tuned separately.
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

 private:
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
