#ifndef HONE_HLO_EQUIVALENCE_CUT_POINTS_H_
#define HONE_HLO_EQUIVALENCE_CUT_POINTS_H_

#include <functional>
#include <utility>
#include <vector>

#include "hlo/equivalence/influence.h"
#include "hlo/equivalence/sharing.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace hone::hlo {

// Returns for each instruction of the entry whether it is cheap: it and all
// that it depends on are scalars and small arrays.
std::vector<bool> FindCheap(const Module& module);

// Small values that scalar parameters decide and that two modules compute by
// different instructions. Where two of them, one of each module, are equal on
// ordinary arguments and not on others, the modules may differ on those: cut
// points, as in the comparison of circuits. That costs no evaluation of the
// whole modules.
class CutPoints {
 public:
  // Gets the value of an instruction of the entry.
  using Values = std::function<const Literal&(InstructionId)>;

  CutPoints(const Module& merged, const Influence& influence,
            const Sharing& sharing, const std::vector<bool>& cheap);

  // The instructions whose values Learn and Differing read.
  std::vector<InstructionId> instructions() const;

  // Leaves the pairs that are equal on these arguments, too.
  void Learn(const Values& values);
  // For each pair left whether it differs.
  std::vector<bool> Differing(const Values& values) const;

 private:
  std::vector<std::pair<InstructionId, InstructionId>> pairs_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_CUT_POINTS_H_
