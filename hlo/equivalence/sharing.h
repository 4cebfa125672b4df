#ifndef HONE_HLO_EQUIVALENCE_SHARING_H_
#define HONE_HLO_EQUIVALENCE_SHARING_H_

#include <utility>
#include <vector>

#include "hlo/ir/module.h"

namespace hone::hlo {

// Who needs what in a merged module (MergedModule): module a, module b or both.
class Sharing {
 public:
  explicit Sharing(const Module& merged);

  // Instructions of the entry.
  bool IsOfAAlone(InstructionId id) const { return Of(id) == kA; }
  bool IsOfBAlone(InstructionId id) const { return Of(id) == kB; }
  // Returns true if an instruction of any computation is evaluated for one of
  // the modules alone. What one computation computes for both is not.
  bool IsOfOne(ComputationId computation, InstructionId id) const;

  // The outputs that the modules do not compute by the same instructions: a's
  // form and b's.
  const std::vector<std::pair<InstructionId, InstructionId>>& differing()
      const {
    return differing_;
  }

 private:
  static constexpr int kA = 1;
  static constexpr int kB = 2;

  int Of(InstructionId id) const { return users_[static_cast<size_t>(id)]; }

  const ComputationId entry_;
  // By instruction of the entry: kA, kB, both or none.
  std::vector<int> users_;
  // By computation: true if an instruction of one module alone calls it.
  std::vector<bool> called_for_one_;
  std::vector<std::pair<InstructionId, InstructionId>> differing_;
};

// For each instruction whether the value of `root` depends on it.
std::vector<bool> NeededBy(const Computation& computation, InstructionId root);

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_SHARING_H_
