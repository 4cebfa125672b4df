#include "hlo/ir/float_formats.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace hone::hlo {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

constexpr ElementType kMiniFloats[] = {
    ElementType::kF8e5m2,        ElementType::kF8e4m3,
    ElementType::kF8e3m4,        ElementType::kF8e4m3fn,
    ElementType::kF8e4m3b11fnuz, ElementType::kF8e5m2fnuz,
    ElementType::kF8e4m3fnuz,    ElementType::kF8e8m0fnu,
    ElementType::kF6e3m2fn,      ElementType::kF6e2m3fn,
    ElementType::kF4e2m1fn};

std::string NameOf(ElementType type) {
  return std::string(ElementTypeName(type));
}

TEST(FloatFormats, EveryPatternOfEveryMiniFloatRoundTrips) {
  for (ElementType type : kMiniFloats) {
    for (unsigned b = 0; b < 1u << BitWidth(type); ++b) {
      const auto bits = static_cast<uint8_t>(b);
      const float value = MiniFloatToFloat(type, bits);
      if (std::isnan(value)) {
        // One NaN of each sign is enough.
        const float again =
            MiniFloatToFloat(type, FloatToMiniFloat(type, value));
        EXPECT_TRUE(std::isnan(again)) << NameOf(type) << " " << b;
        EXPECT_EQ(std::signbit(again), std::signbit(value))
            << NameOf(type) << " " << b;
        continue;
      }
      EXPECT_EQ(FloatToMiniFloat(type, value), bits)
          << NameOf(type) << " " << value;
    }
  }
}

TEST(FloatFormats, MiniFloatsRoundToNearestAndTiesToEven) {
  for (ElementType type : kMiniFloats) {
    std::vector<uint8_t> positive;
    for (unsigned b = 0; b < 1u << BitWidth(type); ++b) {
      const float value = MiniFloatToFloat(type, static_cast<uint8_t>(b));
      if (std::isfinite(value) && !std::signbit(value)) {
        positive.push_back(static_cast<uint8_t>(b));
      }
    }
    for (size_t i = 0; i + 1 < positive.size(); ++i) {
      const double low =
          static_cast<double>(MiniFloatToFloat(type, positive[i]));
      const double high =
          static_cast<double>(MiniFloatToFloat(type, positive[i + 1]));
      const auto middle = static_cast<float>((low + high) / 2);
      // Between powers of two, both neighbors are even: XLA rounds up.
      const bool up = type == ElementType::kF8e8m0fnu || positive[i] % 2 != 0;
      EXPECT_EQ(FloatToMiniFloat(type, middle), positive[i + (up ? 1 : 0)])
          << NameOf(type) << " " << middle;
      EXPECT_EQ(FloatToMiniFloat(type, std::nextafter(middle, 0.0f)),
                positive[i])
          << NameOf(type) << " " << middle;
      EXPECT_EQ(FloatToMiniFloat(type, std::nextafter(middle, kInf)),
                positive[i + 1])
          << NameOf(type) << " " << middle;
    }
  }
}

// XLA:CPU's results.
TEST(FloatFormats, WhatAFormatCannotHold) {
  EXPECT_EQ(FloatToMiniFloat(ElementType::kF8e5m2, 70000), 0x7c);
  EXPECT_EQ(FloatToMiniFloat(ElementType::kF8e5m2, -kInf), 0xfc);
  EXPECT_EQ(FloatToMiniFloat(ElementType::kF8e4m3fn, 464), 0x7e);
  EXPECT_EQ(FloatToMiniFloat(ElementType::kF8e4m3fn, 465), 0x7f);
  EXPECT_EQ(FloatToMiniFloat(ElementType::kF8e4m3fn, -kInf), 0xff);
  EXPECT_EQ(FloatToMiniFloat(ElementType::kF8e4m3fnuz, 1e30f), 0x80);
  EXPECT_EQ(FloatToMiniFloat(ElementType::kF8e4m3fnuz, -1e-30f), 0);
  EXPECT_EQ(FloatToMiniFloat(ElementType::kF4e2m1fn, kInf), 7);
  EXPECT_EQ(FloatToMiniFloat(ElementType::kF4e2m1fn, -100), 15);
  EXPECT_EQ(FloatToMiniFloat(ElementType::kF4e2m1fn, kNan), 8);
  EXPECT_EQ(FloatToMiniFloat(ElementType::kF8e8m0fnu, 0), 255);
  EXPECT_EQ(FloatToMiniFloat(ElementType::kF8e8m0fnu, -1), 255);
  EXPECT_EQ(FloatToMiniFloat(ElementType::kF8e8m0fnu, 1e-45f), 0);
  EXPECT_EQ(FloatToMiniFloat(ElementType::kF8e8m0fnu, 3e38f), 255);
}

TEST(FloatFormats, RoundToOddLeavesRoundingToTheNextConversion) {
  EXPECT_EQ(RoundToOdd(1.5), 1.5f);
  EXPECT_EQ(RoundToOdd(-0.0), 0.0f);
  EXPECT_TRUE(std::signbit(RoundToOdd(-0.0)));
  EXPECT_TRUE(std::isnan(RoundToOdd(std::nan(""))));
  EXPECT_EQ(RoundToOdd(1e300), std::numeric_limits<float>::max());
  EXPECT_EQ(RoundToOdd(-1e-300), -std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(RoundToOdd(std::numeric_limits<double>::infinity()), kInf);
  // On both sides of a tie between two f16 values.
  EXPECT_EQ(FloatToF16(RoundToOdd(1 + 0x1p-11 + 0x1p-40)), 0x3c01);
  EXPECT_EQ(FloatToF16(RoundToOdd(1 + 0x1p-11)), 0x3c00);
  EXPECT_EQ(FloatToF16(RoundToOdd(1 + 3 * 0x1p-11 - 0x1p-40)), 0x3c01);
  EXPECT_EQ(FloatToF16(RoundToOdd(65520 - 0x1p-30)), 0x7bff);
}

}  // namespace
}  // namespace hone::hlo
