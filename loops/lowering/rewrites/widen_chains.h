#ifndef HONE_LOOPS_LOWERING_REWRITES_WIDEN_CHAINS_H_
#define HONE_LOOPS_LOWERING_REWRITES_WIDEN_CHAINS_H_

#include "hlo/ir/module.h"

namespace hone::loops {

// Computes chains of elementwise arithmetic in bf16 in f32, without a rounding
// to bf16 between one operation and the next:
//
//   tanh(add(multiply(a, b), c))
//     → bf16(tanh(f32(a)·f32(b) + f32(c)))
//
// A value keeps the digits of f32 if one instruction reads it, which is
// continuous arithmetic in bf16 or converts it to f32, or several of which one
// converts it for a sum (the exponentials of a softmax). All else sees values
// rounded to bf16, and no value is seen both ways: other values with several
// readers, results, comparisons, rounding to integers, reductions, dots, and
// whatever stores or moves elements. So does everything that a root, logarithm,
// power or divisor comes from that may be a difference: x·x - y, of which y is
// rounded, is zero only if x·x is. A conversion from f32 that the module asks
// for stays.
//
// Not for f16, where intermediate values would no longer overflow at 65504.
// Returns true if there was such a chain.
bool WidenChains(hlo::Module& module);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_REWRITES_WIDEN_CHAINS_H_
