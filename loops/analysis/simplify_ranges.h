#ifndef HONE_LOOPS_ANALYSIS_SIMPLIFY_RANGES_H_
#define HONE_LOOPS_ANALYSIS_SIMPLIFY_RANGES_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

#include "loops/analysis/interval.h"
#include "loops/ir/program.h"

namespace hone::loops {

// The ranges of variables, and of affine expressions of them, that follow from
// the extents of loops.
class ValueRanges {
 public:
  ValueRanges() = default;
  explicit ValueRanges(absl::Span<const Loop* const> loops);

  void Enter(VarId var, int64_t extent) { vars_.push_back({var, extent - 1}); }
  void Leave() { vars_.pop_back(); }

  // The range of `affine`, whose variables must all have been entered.
  Interval Of(const Affine& affine) const;

 private:
  struct Var {
    VarId var = 0;
    int64_t last = 0;
  };
  absl::InlinedVector<Var, 12> vars_;
};

// Simplifies `node`, which is inside loops with these `ranges`, by the extents
// of loops: drops bounds that no iteration reaches, turns constant bounds into
// extents, and resolves ranges of kWhere that always or never hold. Returns no
// node if nothing would run.
std::vector<Node> SimplifyRanges(const Node& node, ValueRanges ranges);

}  // namespace hone::loops

#endif  // HONE_LOOPS_ANALYSIS_SIMPLIFY_RANGES_H_
