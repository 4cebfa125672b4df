#ifndef HONE_LOOPS_TRANSFORMS_ANALYSIS_SAME_EXPRESSION_H_
#define HONE_LOOPS_TRANSFORMS_ANALYSIS_SAME_EXPRESSION_H_

#include "absl/container/flat_hash_map.h"

#include "loops/ir/program.h"

namespace hone::loops {

// Pairs of corresponding loops in two nests.
class LoopPairs {
 public:
  // Adds a pair; returns false if extents differ, or bounds after renaming.
  bool Add(const Loop& from, const Loop& to);

  // Renames the variables of the `from` loops to those of the `to` loops.
  Affine Renamed(const Affine& affine) const;

 private:
  absl::flat_hash_map<VarId, VarId> vars_;
};

// Returns true if `a`, renamed by `pairs`, equals `b`.
bool SameAccess(const Access& a, const Access& b,
                const LoopPairs& pairs = LoopPairs());

// Returns true if `a`, renamed by `pairs`, equals `b`.
bool SameExpression(const Expression& a, const Expression& b,
                    const LoopPairs& pairs = LoopPairs());

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_ANALYSIS_SAME_EXPRESSION_H_
