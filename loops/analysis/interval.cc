#include "loops/analysis/interval.h"

namespace hone::loops {

Interval RangeOf(const Affine& affine,
                 absl::FunctionRef<Interval(VarId)> range_of) {
  Interval sum = {affine.constant(), affine.constant()};
  for (const Affine::Term& term : affine.terms()) {
    const Interval range = range_of(term.var);
    if (range.IsEmpty()) return range;
    sum += term.coefficient * range;
  }
  return sum;
}

}  // namespace hone::loops
