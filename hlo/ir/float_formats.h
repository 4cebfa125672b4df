#ifndef HONE_HLO_IR_FLOAT_FORMATS_H_
#define HONE_HLO_IR_FLOAT_FORMATS_H_

#include <cstdint>

#include "hlo/ir/element_type.h"

namespace hone::hlo {

// Conversions between float and the narrow formats' bits, rounding to nearest
// even; NaN stays NaN (its payload need not).
float Bf16ToFloat(uint16_t bits);
uint16_t FloatToBf16(float value);
float F16ToFloat(uint16_t bits);
uint16_t FloatToF16(float value);

// Any float format of at most 8 bits (f8*, f6*, f4*), one per byte.
float MiniFloatToFloat(ElementType type, uint8_t bits);
uint8_t FloatToMiniFloat(ElementType type, float value);

}  // namespace hone::hlo

#endif  // HONE_HLO_IR_FLOAT_FORMATS_H_
