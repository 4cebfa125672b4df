#ifndef HONE_HLO_IR_FLOAT_FORMATS_H_
#define HONE_HLO_IR_FLOAT_FORMATS_H_

#include <cstdint>

#include "hlo/ir/element_type.h"

namespace hone::hlo {

// Conversions between float and the narrow formats' bits, rounding to nearest
// even; NaN keeps its sign (its payload may be lost).
float Bf16ToFloat(uint16_t bits);
uint16_t FloatToBf16(float value);
float F16ToFloat(uint16_t bits);
uint16_t FloatToF16(float value);

// Any float format of at most 8 bits (f8*, f6*, f4*), one per byte. A format
// without infinities has NaN in their place, or its largest value if it has no
// NaN either. A format without zero (f8e8m0fnu) has NaN for it and for negative
// values. A format without NaN has negative zero for it, as XLA does.
float MiniFloatToFloat(ElementType type, uint8_t bits);
uint8_t FloatToMiniFloat(ElementType type, float value);

// The explicit bits of the significand of any float or complex type.
int MantissaBits(ElementType type);

// Rounds to one of the two neighboring floats, the one whose last bit is set,
// unless `value` is a float. Converting the result to any format of at most 22
// mantissa bits rounds as if `value` was converted at once.
float RoundToOdd(double value);

}  // namespace hone::hlo

#endif  // HONE_HLO_IR_FLOAT_FORMATS_H_
