#ifndef HONE_LOOPS_LOWERING_REWRITES_HOIST_DOTS_H_
#define HONE_LOOPS_LOWERING_REWRITES_HOIST_DOTS_H_

#include "absl/status/status.h"

#include "hlo/ir/module.h"

namespace hone::loops {

// Computes products of an invariant matrix with a row of an invariant array,
// one per iteration of a loop, all at once in front of the loop:
//
//   for t { … dot(x[t], w) … }  →  p = dot(x, w); for t { … p[t] … }
//
// so that the matrix is read once instead of once per iteration. If the row is
// a part of what is multiplied, as the input of a recurrent network is, the
// product becomes a sum of two:
//
//   dot(concatenate(x[t], h), w)  →  dot(x[t], w') + dot(h, w'')
//
// Only if the rows are few, so that reading and writing the products of an
// iteration takes less than reading the matrix, and if this is large: at least
// 512 KiB, as much as the second cache of many processors holds (lowering knows
// no machine). In counted loops of two iterations and more, and for products of
// all iterations of at most 64 MiB.
absl::Status HoistDots(hlo::Module& module);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_REWRITES_HOIST_DOTS_H_
