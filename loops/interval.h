#ifndef HONE_LOOPS_INTERVAL_H_
#define HONE_LOOPS_INTERVAL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

#include "loops/affine.h"

namespace hone::loops {

// The integers lo … hi, both included; none where hi < lo. Its arithmetic does
// not look out for overflow: 64 bits are plenty for the indices of a verified
// program, which stay below 2^56, and whoever has larger numbers checks first.
struct Interval {
  int64_t lo = 0;
  int64_t hi = 0;

  bool IsEmpty() const { return hi < lo; }

  // The sums of a value of each. Says nothing where one of them is empty.
  Interval& operator+=(const Interval& other) {
    lo += other.lo;
    hi += other.hi;
    return *this;
  }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// The least interval with the multiples of its values.
inline Interval operator*(int64_t factor, const Interval& interval) {
  return factor < 0 ? Interval{factor * interval.hi, factor * interval.lo}
                    : Interval{factor * interval.lo, factor * interval.hi};
}

// The least interval with all values of `affine` where each of its variables
// goes through `range_of` it, whatever the others do. Empty where one of these
// is.
Interval RangeOf(const Affine& affine,
                 absl::FunctionRef<Interval(VarId)> range_of);

}  // namespace hone::loops

#endif  // HONE_LOOPS_INTERVAL_H_
