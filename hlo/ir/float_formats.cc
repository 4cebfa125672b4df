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

int Width(const Format& f) {
  return f.exponent_bits + f.mantissa_bits + (f.has_sign ? 1 : 0);
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
  const unsigned width_mask = (1u << Width(f)) - 1;
  const unsigned b = bits & width_mask;
  const bool negative = f.has_sign && (b >> (Width(f) - 1)) != 0;
  const unsigned magnitude = f.has_sign ? b & ((1u << (Width(f) - 1)) - 1) : b;
  const unsigned exponent = magnitude >> f.mantissa_bits;
  const unsigned mantissa = magnitude & ((1u << f.mantissa_bits) - 1);
  const unsigned top = (1u << f.exponent_bits) - 1;
  const unsigned ones =
      (top << f.mantissa_bits) | ((1u << f.mantissa_bits) - 1);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  if (f.negative_zero_is_nan && negative && magnitude == 0) return nan;
  if (f.all_ones_is_nan && magnitude == ones) return nan;
  if (f.ieee && exponent == top) {
    if (mantissa != 0) return nan;
    const float inf = std::numeric_limits<float>::infinity();
    return negative ? -inf : inf;
  }
  float value;
  if (exponent == 0 && f.has_sign) {
    value =
        std::ldexp(static_cast<float>(mantissa), 1 - f.bias - f.mantissa_bits);
  } else {
    value = std::ldexp(static_cast<float>((1u << f.mantissa_bits) | mantissa),
                       static_cast<int>(exponent) - f.bias - f.mantissa_bits);
  }
  return negative ? -value : value;
}

uint8_t FloatToMiniFloat(ElementType type, float value) {
  // Nearest value by search over at most 256 patterns: these formats only
  // appear in conversions, where clarity is worth more than speed.
  const Format f = FormatOf(type);
  const unsigned count = 1u << Width(f);
  const bool want_negative = std::signbit(value) && f.has_sign;
  // No signed format reaches 2^20: clamping keeps distances of huge values
  // apart.
  const double wide = static_cast<double>(value);
  const double target = f.has_sign ? std::clamp(wide, -0x1p20, 0x1p20) : wide;
  unsigned best = 0;
  double best_distance = std::numeric_limits<double>::infinity();
  bool found_nan = false;
  unsigned nan_pattern = 0;
  for (unsigned b = 0; b < count; ++b) {
    const float candidate = MiniFloatToFloat(type, static_cast<uint8_t>(b));
    if (std::isnan(candidate)) {
      if (!found_nan) nan_pattern = b;
      found_nan = true;
      continue;
    }
    if (std::isnan(value)) continue;
    if (std::signbit(candidate) != want_negative && candidate != 0) continue;
    if (std::isinf(candidate)) continue;
    const double distance = std::fabs(static_cast<double>(candidate) - target);
    const bool tie = distance == best_distance;
    const bool sign_match = std::signbit(candidate) == want_negative;
    if (distance < best_distance || (tie && sign_match && b % 2 == 0)) {
      best = b;
      best_distance = distance;
    }
  }
  if (std::isnan(value)) return static_cast<uint8_t>(nan_pattern);
  // Beyond the largest finite value by half a step or more: infinity where
  // the format has it, NaN where it only has that, else saturation.
  const float nearest = MiniFloatToFloat(type, static_cast<uint8_t>(best));
  const float below =
      MiniFloatToFloat(type, static_cast<uint8_t>(best > 0 ? best - 1 : best));
  const double half_step =
      std::fabs(static_cast<double>(nearest) - static_cast<double>(below)) / 2;
  const bool is_largest =
      best + 1 == count ||
      !(std::fabs(MiniFloatToFloat(type, static_cast<uint8_t>(best + 1))) >
        std::fabs(nearest)) ||
      std::isinf(MiniFloatToFloat(type, static_cast<uint8_t>(best + 1)));
  if (std::isinf(value) ||
      (is_largest && std::fabs(value) > std::fabs(nearest) &&
       best_distance >= half_step)) {
    if (f.ieee) {
      const unsigned infinity = ((1u << f.exponent_bits) - 1)
                                << f.mantissa_bits;
      return static_cast<uint8_t>(infinity | (want_negative ? count / 2 : 0u));
    }
    if (found_nan) return static_cast<uint8_t>(nan_pattern);
  }
  return static_cast<uint8_t>(best);
}

}  // namespace hone::hlo
