#ifndef HONE_LOOPS_ANALYSIS_INTERVAL_H_
#define HONE_LOOPS_ANALYSIS_INTERVAL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

#include "loops/ir/affine.h"

namespace hone::loops {

// The integers lo … hi, both included; empty if hi < lo. Arithmetic does not
// check for overflow: the indices of a verified program stay below 2^56, and a
// caller with larger numbers checks first.
struct Interval {
  int64_t lo = 0;
  int64_t hi = 0;

  bool IsEmpty() const { return hi < lo; }

  // The interval of sums of a value of each. Both must be nonempty.
  Interval& operator+=(const Interval& other) {
    lo += other.lo;
    hi += other.hi;
    return *this;
  }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// The smallest interval that contains factor · value for each value.
inline Interval operator*(int64_t factor, const Interval& interval) {
  return factor < 0 ? Interval{factor * interval.hi, factor * interval.lo}
                    : Interval{factor * interval.lo, factor * interval.hi};
}

// The smallest interval that contains all values of `affine` if its variables
// vary independently over `range_of` each. Empty if one of those is.
Interval RangeOf(const Affine& affine,
                 absl::FunctionRef<Interval(VarId)> range_of);

}  // namespace hone::loops

#endif  // HONE_LOOPS_ANALYSIS_INTERVAL_H_
