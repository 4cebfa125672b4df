#include "base/division.h"

#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Division, RoundsAsRealNumbersDo) {
  for (int64_t a = -7; a <= 7; ++a) {
    for (int64_t b = -3; b <= 3; ++b) {
      if (b == 0) continue;
      const double quotient = static_cast<double>(a) / static_cast<double>(b);
      EXPECT_EQ(static_cast<double>(FloorDivide(a, b)), std::floor(quotient))
          << a << " / " << b;
      EXPECT_EQ(static_cast<double>(CeilDivide(a, b)), std::ceil(quotient))
          << a << " / " << b;
    }
  }
}

}  // namespace
}  // namespace hone
