#ifndef HONE_LOOPS_LOWERING_CLUSTERS_H_
#define HONE_LOOPS_LOWERING_CLUSTERS_H_

#include <vector>

#include "loops/lowering/fusion.h"
#include "loops/lowering/value_graph.h"

namespace hone::loops {

// Which stored instructions share a kernel: one joins the kernel of its readers
// if they are all in the same one, so that what it makes is local there. A
// softmax is one kernel, and so is a layer normalisation. Dots, convolutions,
// sorts and scatters stay alone, for they are tuned each in its own way.
class Clusters {
 public:
  Clusters(const ValueGraph& graph, const Fusion& fusion);

  // Whether the instruction is in a kernel. Parameters, constants and control
  // flow are not, nor is what is computed where it is read.
  bool IsWritten(hlo::InstructionId id) const {
    return root(id) != hlo::kNoInstruction;
  }
  // The last instruction of its kernel; kNoInstruction if it is in none.
  hlo::InstructionId root(hlo::InstructionId id) const {
    return roots_[static_cast<size_t>(id)];
  }
  // The kernel that ends with `root`, operands first.
  const std::vector<hlo::InstructionId>& members(
      hlo::InstructionId root) const {
    return members_[static_cast<size_t>(root)];
  }

 private:
  // The root that all readers of the instruction have in common;
  // kNoInstruction where they have none.
  hlo::InstructionId CommonRoot(hlo::InstructionId id) const;

  const ValueGraph& graph_;
  std::vector<std::vector<hlo::InstructionId>> readers_;  // by value
  std::vector<bool> is_result_;                           // likewise
  std::vector<hlo::InstructionId> roots_;                 // by instruction
  std::vector<std::vector<hlo::InstructionId>> members_;  // by root
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_CLUSTERS_H_
