#include "hlo/ir/float_formats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace hone::hlo {
namespace {

// A small float format: sign (where it has one), exponent and mantissa bits.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_sign = true;
  // True if the format follows IEEE 754 (infinities; NaNs share the top
  // exponent). Otherwise the top exponent is finite.
  bool ieee = false;
  // "uz" formats: the pattern of negative zero is the only NaN.
  bool negative_zero_is_nan = false;
  // "fn" formats of 8 bits: all ones is NaN; below 8 bits there is no NaN.
  bool all_ones_is_nan = false;
};

Format FormatOf(ElementType type) {
  switch (type) {
    case ElementType::kF8e5m2:
      return {5, 2, 15, true, true};
    case ElementType::kF8e4m3:
      return {4, 3, 7, true, true};
    case ElementType::kF8e3m4:
      return {3, 4, 3, true, true};
    case ElementType::kF8e4m3fn:
      return {4, 3, 7, true, false, false, true};
    case ElementType::kF8e4m3b11fnuz:
      return {4, 3, 11, true, false, true};
    case ElementType::kF8e5m2fnuz:
      return {5, 2, 16, true, false, true};
    case ElementType::kF8e4m3fnuz:
      return {4, 3, 8, true, false, true};
    case ElementType::kF8e8m0fnu:
      return {8, 0, 127, false, false, false, true};
    case ElementType::kF6e3m2fn:
      return {3, 2, 3};
    case ElementType::kF6e2m3fn:
      return {2, 3, 1};
    case ElementType::kF4e2m1fn:
      return {2, 1, 1};
    default:
      HONE_CHECK(false && "not a mini float");
      return {};
  }
}

// The bits of exponent and mantissa.
unsigned MagnitudeMask(const Format& f) {
  return (1u << (f.exponent_bits + f.mantissa_bits)) - 1;
}

unsigned SignBit(const Format& f) {
  return f.has_sign ? MagnitudeMask(f) + 1 : 0;
}

bool HasNan(const Format& f) {
  return f.ieee || f.negative_zero_is_nan || f.all_ones_is_nan;
}

// The pattern of infinity in a format that has it.
unsigned InfinityOf(const Format& f) {
  return ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
}

// The pattern of the largest finite value.
unsigned LargestOf(const Format& f) {
  if (f.ieee) return InfinityOf(f) - 1;
  return f.all_ones_is_nan ? MagnitudeMask(f) - 1 : MagnitudeMask(f);
}

// The pattern of a NaN with this sign bit; negative zero without a NaN.
unsigned NanOf(const Format& f, unsigned sign) {
  if (f.ieee) return sign | InfinityOf(f) | (1u << (f.mantissa_bits - 1));
  return f.all_ones_is_nan ? sign | MagnitudeMask(f) : SignBit(f);
}

}  // namespace

float Bf16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

uint16_t FloatToBf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float F16ToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1f;
  const uint32_t mantissa = bits & 0x3ff;
  if (exponent == 0x1f) {
    return std::bit_cast<float>(sign | 0x7f800000 | (mantissa << 13));
  }
  if (exponent != 0) {
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) |
                                (mantissa << 13));
  }
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

uint16_t FloatToF16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const float magnitude = std::fabs(value);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00);
  if (magnitude >= 65520.0f) return static_cast<uint16_t>(sign | 0x7c00);
  if (magnitude < 0x1p-14f) {
    // The product is exact (a power of two), so one rounding happens.
    const float scaled = std::nearbyint(magnitude * 0x1p24f);
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(scaled));
  }
  const uint32_t m = bits & 0x7fffffff;
  const uint32_t rounded = m + 0xfff + ((m >> 13) & 1);
  return static_cast<uint16_t>(sign | ((rounded - (112u << 23)) >> 13));
}

float MiniFloatToFloat(ElementType type, uint8_t bits) {
  const Format f = FormatOf(type);
  const unsigned sign = SignBit(f);
  const bool negative = (bits & sign) != 0;
  const unsigned magnitude = bits & MagnitudeMask(f);
  const unsigned exponent = magnitude >> f.mantissa_bits;
  const unsigned mantissa = magnitude & ((1u << f.mantissa_bits) - 1);
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  if (f.negative_zero_is_nan && negative && magnitude == 0) return kNan;
  float value;
  if (f.all_ones_is_nan && magnitude == MagnitudeMask(f)) {
    value = kNan;
  } else if (f.ieee && magnitude >= InfinityOf(f)) {
    value = mantissa != 0 ? kNan : std::numeric_limits<float>::infinity();
  } else if (exponent == 0 && f.has_sign) {
    value =
        std::ldexp(static_cast<float>(mantissa), 1 - f.bias - f.mantissa_bits);
  } else {
    value = std::ldexp(static_cast<float>((1u << f.mantissa_bits) | mantissa),
                       static_cast<int>(exponent) - f.bias - f.mantissa_bits);
  }
  return negative ? -value : value;
}

uint8_t FloatToMiniFloat(ElementType type, float value) {
  const Format f = FormatOf(type);
  const unsigned sign = std::signbit(value) ? SignBit(f) : 0;
  const unsigned nan = NanOf(f, sign);
  // Only f8e8m0fnu has no sign, and it has no zero.
  const bool has_value = f.has_sign || value > 0;
  if (std::isnan(value) || !has_value) return static_cast<uint8_t>(nan);
  unsigned magnitude = MagnitudeMask(f) + 1;
  if (!std::isinf(value)) {
    // Below the smallest normal value, the distance of neighbors stays.
    const int smallest = f.has_sign ? 1 - f.bias : -f.bias;
    const int exponent =
        value == 0 ? smallest : std::max(std::ilogb(value), smallest);
    const double steps = std::nearbyint(std::ldexp(
        std::fabs(static_cast<double>(value)), f.mantissa_bits - exponent));
    // Steps beyond the subnormal values, or a carry into the next exponent, add
    // up to the right pattern.
    const int pattern = ((exponent - smallest) << f.mantissa_bits) +
                        static_cast<int>(steps) - (f.has_sign ? 0 : 1);
    magnitude = static_cast<unsigned>(std::max(pattern, 0));
  }
  if (magnitude > LargestOf(f)) {
    if (f.ieee) return static_cast<uint8_t>(sign | InfinityOf(f));
    if (HasNan(f)) return static_cast<uint8_t>(nan);
    magnitude = LargestOf(f);
  }
  // The pattern of negative zero may mean NaN.
  if (magnitude == 0 && f.negative_zero_is_nan) return 0;
  return static_cast<uint8_t>(sign | magnitude);
}

int MantissaBits(ElementType type) {
  switch (type) {
    case ElementType::kF64:
    case ElementType::kC128:
      return 52;
    case ElementType::kF32:
    case ElementType::kC64:
      return 23;
    case ElementType::kBf16:
      return 7;
    case ElementType::kF16:
      return 10;
    default:
      return FormatOf(type).mantissa_bits;
  }
}

float RoundToOdd(double value) {
  float result = static_cast<float>(value);
  const double back = static_cast<double>(result);
  if (back == value || std::isnan(value)) return result;
  if (std::fabs(back) > std::fabs(value)) result = std::nextafter(result, 0.0f);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(result) | 1);
}

}  // namespace hone::hlo
