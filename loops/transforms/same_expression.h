#ifndef HONE_LOOPS_TRANSFORMS_SAME_EXPRESSION_H_
#define HONE_LOOPS_TRANSFORMS_SAME_EXPRESSION_H_

#include "absl/container/flat_hash_map.h"

#include "loops/program.h"

namespace hone::loops {

// Scopes of two nests that stand for each other.
class ScopePairs {
 public:
  // False where extents differ, or bounds once variables are replaced.
  bool Add(const Scope& from, const Scope& to);

  // With the variables of scopes that were added replaced.
  Affine Renamed(const Affine& affine) const;

 private:
  absl::flat_hash_map<VarId, VarId> vars_;
};

bool SameAccess(const Access& a, const Access& b,
                const ScopePairs& pairs = ScopePairs());

// Whether `a`, its variables replaced as `pairs` says, is `b`.
bool SameExpression(const Expression& a, const Expression& b,
                    const ScopePairs& pairs = ScopePairs());

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_SAME_EXPRESSION_H_
