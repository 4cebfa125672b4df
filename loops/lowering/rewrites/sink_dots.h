#ifndef HONE_LOOPS_LOWERING_REWRITES_SINK_DOTS_H_
#define HONE_LOOPS_LOWERING_REWRITES_SINK_DOTS_H_

#include "absl/status/status.h"

#include "hlo/ir/module.h"

namespace hone::loops {

// Computes products that a loop only adds up, or only stores, after the loop,
// from what it multiplies in each iteration:
//
//   for t { s += dot(a, b) }     →  for t { A[t] = a; B[t] = b }
//                                   s += dot(A, B), which sums over t, too
//   for t { y[t] = dot(a, w) }   →  for t { A[t] = a };  y = dot(A, w)
//
// so that the matrix s is not read and written in each iteration, and the
// matrix w, which the loop does not change, not read. Arrays that the loop
// reads or writes by rows already are not made again. A product of which only
// slices are used becomes a product for each slice.
//
// Only if the rows are few: storing those of an iteration takes less than what
// it saves. In counted loops of 2 to 4,096 iterations, whose places are a
// permutation, and for stored arrays of at most 64 MiB.
absl::Status SinkDots(hlo::Module& module);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_REWRITES_SINK_DOTS_H_
