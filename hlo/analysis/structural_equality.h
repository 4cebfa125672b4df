#ifndef HONE_HLO_ANALYSIS_STRUCTURAL_EQUALITY_H_
#define HONE_HLO_ANALYSIS_STRUCTURAL_EQUALITY_H_

#include <cstddef>
#include <vector>

#include "hlo/ir/module.h"

namespace hone::hlo {

// Returns true if the instructions do the same, given that their operands and
// the computations they call are the same: opcode, shape, attributes, index and
// literal agree. Names and metadata are ignored. An elided literal equals only
// itself.
bool SameOperation(const Instruction& a, const Instruction& b,
                   bool ignore_layout);

// Equal for instructions that SameOperation calls the same. Looks at a bounded
// part of large literals. Salted per process: for hash tables only.
size_t HashOperation(const Instruction& instruction);

// Sorts the computations of a module into classes of equal content: same
// instructions, operands and control dependencies in post order, layouts
// included, called computations of the same class; names and metadata ignored.
class ComputationClasses {
 public:
  explicit ComputationClasses(const Module& module);

  // The first computation, in call graph post order, that equals `id`.
  ComputationId ClassOf(ComputationId id) const {
    return classes_[static_cast<size_t>(id)];
  }
  // Returns true if both call computations of the same classes.
  bool SameCalled(const Instruction& a, const Instruction& b) const;

 private:
  std::vector<ComputationId> classes_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_ANALYSIS_STRUCTURAL_EQUALITY_H_
