#ifndef HONE_LOOPS_SIMPLIFY_RANGES_H_
#define HONE_LOOPS_SIMPLIFY_RANGES_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

#include "loops/interval.h"
#include "loops/program.h"

namespace hone::loops {

// Values that variables and affine expressions of them may have, by the extents
// of scopes alone.
class ValueRanges {
 public:
  ValueRanges() = default;
  explicit ValueRanges(absl::Span<const Scope* const> scopes);

  void Enter(VarId var, int64_t extent) { vars_.push_back({var, extent - 1}); }
  void Leave() { vars_.pop_back(); }

  // All variables of `affine` are entered.
  Interval Of(const Affine& affine) const;

 private:
  struct Var {
    VarId var = 0;
    int64_t last = 0;
  };
  absl::InlinedVector<Var, 12> vars_;
};

// `node`, which is under scopes with these `ranges`, without what extents
// decide: bounds that no iteration reaches, constant bounds (they become
// extents), ranges of wheres that hold always or never. Empty where nothing
// would run.
std::vector<Node> SimplifyRanges(const Node& node, ValueRanges ranges);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SIMPLIFY_RANGES_H_
