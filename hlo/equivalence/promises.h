#ifndef HONE_HLO_EQUIVALENCE_PROMISES_H_
#define HONE_HLO_EQUIVALENCE_PROMISES_H_

#include <optional>
#include <string>

#include "hlo/ir/module.h"

namespace hone::hlo {

// Compares attributes that the evaluator does not look at, as it computes
// exactly what they permit a backend to compute otherwise. `b` may
//   - have no f32 or wider dot or convolution of a lower operand precision than
//     the lowest in `a`, nor with another algorithm than those of `a` have
//     (none counts as one)
//   - claim no more often than `a` that indices are sorted or unique, but where
//     there is one index vector, of which both are true
//   - have no more unstable sorts than `a`
// Rewrites split, join and inline instructions, so these are compared over the
// modules, not one by one: which of two dots has the lower precision is not
// seen.
// Returns what differs; nullopt if `b` keeps to this.
std::optional<std::string> PromiseDifference(const Module& a, const Module& b);

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_PROMISES_H_
