#ifndef HONE_HLO_EQUIVALENCE_DOUBLE_PRECISION_H_
#define HONE_HLO_EQUIVALENCE_DOUBLE_PRECISION_H_

#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace hone::hlo {

// The module with f64 in place of every narrower floating-point type and c128
// in place of c64, parameters and result included: for the evaluator, what the
// program means with little rounding. Conversions among such types, which only
// round, and reduce-precision pass their operand on. Bits are those of the
// original type: an operand of bitcast-convert is rounded to it before, a
// result is widened behind it. Integers and predicates stay.
Module InDoublePrecision(Module module);

// Likewise, but the entry's parameters keep their types and are widened where
// they are used, so that the arguments need no copy.
Module InDoublePrecisionInside(Module module);

// The value with the types of InDoublePrecision; arrays that need no change
// share their data.
Literal InDoublePrecision(const Literal& literal);

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_DOUBLE_PRECISION_H_
