#ifndef HONE_LOOPS_LOWERING_REWRITES_OFFSET_DOTS_H_
#define HONE_LOOPS_LOWERING_REWRITES_OFFSET_DOTS_H_

#include "hlo/ir/module.h"

namespace hone::loops {

// Gives large dots of two s8 operands and a 32-bit integer result an unsigned
// operand, since processors multiply bytes of different signs:
//
//   dot(a, b) → dot(a + 128, b) - 128 * (sum of b over what is contracted)
//
// Exact, as the arithmetic is modulo 2^32. Not for dots with few rows or
// columns, for which the sum would not be cheap by comparison.
void OffsetDots(hlo::Module& module);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_REWRITES_OFFSET_DOTS_H_
