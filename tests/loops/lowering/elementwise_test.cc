#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "loops/lowering/lowering.h"
#include "tests/loops/lowering/lowered.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::StatusIs;

TEST(LowerElementwise, UnaryFloats) {
  for (const char* type : {"f64", "f32", "f16", "bf16"}) {
    for (const char* opcode :
         {"abs", "ceil", "cosine", "exponential", "exponential-minus-one",
          "floor", "log-plus-one", "logistic", "negate", "round-nearest-afz",
          "round-nearest-even", "sign", "sine", "tan", "tanh", "cbrt", "erf"}) {
      SCOPED_TRACE(absl::StrCat(type, " ", opcode));
      ExpectLowersRight(
          ModuleText(absl::StrReplaceAll("  x = TYPE[3,5] parameter(0)\n"
                                         "  ROOT y = TYPE[3,5] OP(x)",
                                         {{"TYPE", type}, {"OP", opcode}})));
    }
  }
}

TEST(LowerElementwise, BinaryIntegers) {
  for (const char* type :
       {"s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64"}) {
    for (const char* opcode :
         {"add", "subtract", "multiply", "divide", "remainder", "minimum",
          "maximum", "and", "or", "xor", "shift-left", "shift-right-logical",
          "shift-right-arithmetic", "power"}) {
      SCOPED_TRACE(absl::StrCat(type, " ", opcode));
      ExpectLowersRight(
          ModuleText(absl::StrReplaceAll("  x = TYPE[7] parameter(0)\n"
                                         "  z = TYPE[7] parameter(1)\n"
                                         "  ROOT y = TYPE[7] OP(x, z)",
                                         {{"TYPE", type}, {"OP", opcode}})));
    }
  }
}

TEST(LowerElementwise, SelectClampAndCompareWithScalars) {
  const Program program = ExpectLowersRight(ModuleText(R"(
  x = f32[3,5] parameter(0)
  lo = f32[] constant(-0.05)
  hi = f32[] parameter(1)
  p = pred[] parameter(2)
  c = f32[3,5] clamp(lo, x, hi)
  less = pred[3,5] compare(c, x), direction=LT
  total = pred[3,5] compare(c, x), direction=GE, type=TOTALORDER
  both = pred[3,5] xor(less, total)
  s = f32[3,5] select(both, c, x)
  ROOT r = f32[3,5] select(p, s, x))"));
  EXPECT_EQ(CountLocalArrays(program), 0);
}

TEST(LowerElementwise, Conversions) {
  ExpectLowersRight(ModuleText(R"(
  x = f32[6] parameter(0)
  n = s32[6] parameter(1)
  thousand = f32[] constant(1000)
  thousands = f32[6] broadcast(thousand), dimensions={}
  scaled = f32[6] multiply(x, thousands)
  a = s8[6] convert(scaled)
  b = bf16[6] convert(x)
  c = pred[6] convert(n)
  d = u32[6] bitcast-convert(x)
  f = f32[6] reduce-precision(x), exponent_bits=8, mantissa_bits=7
  fin = pred[6] is-finite(x)
  ROOT t = (s8[6], bf16[6], pred[6], u32[6], f32[6], pred[6]) tuple(a, b, c, d, f, fin))"));
}

TEST(LowerElementwise, MapAppliesItsRegion) {
  ExpectLowersRight(ModuleText(R"(
  x = f32[2,3] parameter(0)
  y = f32[2,3] parameter(1)
  ROOT m = f32[2,3] map(x, y), dimensions={0,1}, to_apply=f)",
                               R"(
f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  two = f32[] constant(2)
  c = f32[] multiply(a, two)
  ROOT d = f32[] subtract(c, b)
})"));
}

TEST(LowerElementwise, ResultsThatAreGivenOrTwice) {
  ExpectLowersRight(ModuleText(R"(
  x = f32[2,3] parameter(0)
  y = f32[2,3] negate(x)
  c = s32[3] constant({4, 1, 7})
  u = f32[2] constant({1, 1})
  flat = f32[6] reshape(y)
  ROOT t = (f32[2,3], f32[2,3], f32[2,3], s32[3], f32[2], f32[6]) tuple(x, y, y, c, u, flat))"));
}

TEST(LowerElementwise, ExpensiveValuesWithSeveralReadersAreStored) {
  const std::string text = R"(
  x = f32[4] parameter(0)
  e = f32[4] OP(x)
  a = f32[4] add(e, x)
  ROOT m = f32[4] multiply(a, e))";
  EXPECT_EQ(CountLocalArrays(ExpectLowersRight(
                ModuleText(absl::StrReplaceAll(text, {{"OP", "tanh"}})))),
            1);
  EXPECT_EQ(CountLocalArrays(ExpectLowersRight(
                ModuleText(absl::StrReplaceAll(text, {{"OP", "negate"}})))),
            0);
}

TEST(LowerElementwise, ExpressionsDoNotExplode) {
  // 40 doublings would be 2^40 nodes.
  std::string body = "  x0 = f32[3] parameter(0)\n";
  for (int i = 1; i <= 40; ++i) {
    absl::StrAppend(&body, i == 40 ? "  ROOT x" : "  x", i, " = f32[3] add(x",
                    i - 1, ", x", i - 1, ")\n");
  }
  const Program program = ExpectLowersRight(ModuleText(body));
  EXPECT_LT(CountLocalArrays(program), 20);
}

TEST(LowerElementwise, SaysWhatHasNoKernel) {
  EXPECT_THAT(
      LowerToProgram(ParseModule(ModuleText(
          "  x = f8e5m2[3] parameter(0)\n  ROOT y = f8e5m2[3] negate(x)"))),
      StatusIs(absl::StatusCode::kUnimplemented,
               AllOf(HasSubstr("parameter"), HasSubstr("f8e5m2"))));
  EXPECT_THAT(
      LowerToProgram(ParseModule(ModuleText(
          "  x = f32[4,4] parameter(0)\n  ROOT chol = f32[4,4] cholesky(x)"))),
      StatusIs(absl::StatusCode::kUnimplemented,
               HasSubstr("library function hone_lapack_potrf 'chol'")));
}

TEST(LowerElementwise, ConstantsThatAreTuples) {
  ExpectLowersRight(ModuleText(R"(
  p = f32[2] parameter(0)
  c = (s32[], f32[2]) constant((3, {1, 2}))
  g = f32[2] get-tuple-element(c), index=1
  s = f32[2] add(p, g)
  ROOT r = (f32[2], (s32[], f32[2])) tuple(s, c))"));
}

// Half of the least normal f16, just less than it, what rounds up to it, and
// what rounds down to the largest f16.
TEST(LowerElementwise, ReducePrecisionHasNoDenormals) {
  ExpectLowersRight(ModuleText(R"(
  x = f32[8] constant({3.0517578e-05, -6.1e-05, 6.1020255e-05, 6.1027706e-05, 6.1033666e-05, 6.1035156e-05, -65519.9, nan})
  y = f64[5] constant({1e-39, -1e-40, 1.1754943e-38, 1.17549435e-38, 3.5e38})
  h = f16[3] constant({6e-08, -0.0001, 0.5})
  a = f32[8] reduce-precision(x), exponent_bits=5, mantissa_bits=10
  b = f64[5] reduce-precision(y), exponent_bits=8, mantissa_bits=23
  c = f16[3] reduce-precision(h), exponent_bits=5, mantissa_bits=10
  ROOT t = (f32[8], f64[5], f16[3]) tuple(a, b, c))"));
}

}  // namespace
}  // namespace hone::loops
