// The parts of the check of an order of passes.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/compare_results.h"
#include "tests/hlo/passes/effects.h"
#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Literal Floats(const std::vector<double>& values) {
  Literal literal(
      Shape::Array(ElementType::kF32, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) {
    literal.SetDouble(static_cast<int64_t>(i), values[i]);
  }
  return literal;
}

TEST(DifferenceInBits, LooksAtEveryBitOfANumber) {
  EXPECT_EQ(DifferenceInBits(Floats({1, 0, kNan}), Floats({1, -0.0, -kNan})),
            std::nullopt);
  EXPECT_THAT(DifferenceInBits(Floats({1, 1}), Floats({1, 1 + 1e-7})),
              Optional(HasSubstr("output 0[1]")));
  EXPECT_THAT(DifferenceInBits(Floats({1, kNan}), Floats({1, 1})),
              Optional(HasSubstr("output 0[1]")));
}

TEST(DifferenceInNonFinite, LooksAtWhatIsFinite) {
  EXPECT_EQ(DifferenceInNonFinite(Floats({1, kNan, kInfinity}),
                                  Floats({2, kInfinity, kInfinity})),
            std::nullopt);
  EXPECT_THAT(DifferenceInNonFinite(Floats({1}), Floats({kInfinity})),
              Optional(HasSubstr("output 0[0]")));
}

TEST(ExtremeArguments, CoverTheRangeOfFloats) {
  const Module module = ParseForTest(R"(HloModule m
ENTRY e {
  a = f32[64] parameter(0)
  b = c64[64] parameter(1)
  c = u64[64] parameter(2)
  ROOT t = (f32[64], c64[64], u64[64]) tuple(a, b, c)
})");
  double largest = 0;
  double smallest = 1;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const std::vector<Literal> arguments = ExtremeArguments(module, seed);
    for (int64_t i = 0; i < 64; ++i) {
      const double x = std::abs(arguments[0].AsDouble(i));
      EXPECT_TRUE(std::isfinite(x));
      largest = std::max(largest, x);
      if (x > 0) smallest = std::min(smallest, x);
    }
  }
  EXPECT_GT(largest, 1e35);
  EXPECT_LT(smallest, 1e-35);
}

TEST(OverflowDependsOnOrder, LooksAtTheMagnitudesOfTheTerms) {
  const Module module = ParseForTest(R"(HloModule m
ENTRY e {
  a = f32[3] parameter(0)
  b = f32[3] parameter(1)
  twice = f32[3] add(a, a)
  d = f32[] dot(twice, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT n = f32[] negate(d)
})");
  const auto vector = [](std::vector<float> values) {
    Literal literal(Shape::Array(ElementType::kF32, {3}));
    for (int64_t i = 0; i < 3; ++i) {
      literal.SetDouble(i, double{values[static_cast<size_t>(i)]});
    }
    return literal;
  };
  const Literal ones = vector({1, 1, 1});
  EXPECT_FALSE(
      OverflowDependsOnOrder(module, {vector({1e38f, -1, 5e37f}), ones}));
  EXPECT_TRUE(
      OverflowDependsOnOrder(module, {vector({1e38f, -1e38f, 1e38f}), ones}));
}

constexpr char kEffects[] = R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  a = f32[2] custom-call(x), custom_call_target="t", custom_call_has_side_effect=true
  b = f32[2] negate(x), control-predecessors={a}
  c = f32[2] custom-call(x), custom_call_target="pure"
  ROOT r = f32[2] add(a, b)
})";

TEST(DifferenceInEffects, CountsThem) {
  const Module module = ParseForTest(kEffects);
  EXPECT_EQ(DifferenceInEffects(module, module), std::nullopt);
  // Without the pure call nothing is lost.
  EXPECT_EQ(DifferenceInEffects(module, ParseForTest(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  a = f32[2] custom-call(x), custom_call_target="t", custom_call_has_side_effect=true
  b = f32[2] negate(x), control-predecessors={a}
  ROOT r = f32[2] add(a, b)
})")),
            std::nullopt);
  EXPECT_THAT(DifferenceInEffects(module, ParseForTest(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  b = f32[2] negate(x)
  ROOT r = f32[2] add(x, b)
})")),
              Optional(HasSubstr("happens 0 times, expected 1")));
}

TEST(DifferenceInEffects, FindsLostOrders) {
  EXPECT_THAT(
      DifferenceInEffects(ParseForTest(kEffects), ParseForTest(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  a = f32[2] custom-call(x), custom_call_target="t", custom_call_has_side_effect=true
  b = f32[2] negate(x)
  ROOT r = f32[2] add(a, b)
})")),
      Optional(HasSubstr("b no longer waits for a")));
}

TEST(DifferenceInEffects, SeesWhatBecameConditional) {
  const Module conditional = ParseForTest(R"(HloModule m
f {
  x = f32[2] parameter(0)
  ROOT a = f32[2] custom-call(x), custom_call_target="t", custom_call_has_side_effect=true
}

g {
  ROOT x = f32[2] parameter(0)
}

ENTRY e {
  p = pred[] parameter(0)
  x = f32[2] parameter(1)
  ROOT c = f32[2] conditional(p, x, x), true_computation=f, false_computation=g
})");
  const Module always = ParseForTest(R"(HloModule m
ENTRY e {
  p = pred[] parameter(0)
  x = f32[2] parameter(1)
  ROOT a = f32[2] custom-call(x), custom_call_target="t", custom_call_has_side_effect=true
})");
  // A predicate may have been known.
  EXPECT_EQ(DifferenceInEffects(conditional, always), std::nullopt);
  EXPECT_THAT(DifferenceInEffects(always, conditional),
              Optional(HasSubstr("happens 0 times")));
}

}  // namespace
}  // namespace hone::hlo
