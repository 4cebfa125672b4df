#include "hlo/equivalence/double_precision.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "hlo/evaluator/evaluator.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

// The result of an entry of these instructions in double precision, on `x`.
double Evaluated(const std::string& lines, const Literal& x) {
  absl::StatusOr<Module> module = ParseHloText(
      "HloModule m\nsum {\n  a = f32[] parameter(0)\n  b = f32[] "
      "parameter(1)\n  ROOT r = f32[] add(a, b)\n}\nENTRY e {\n" +
      lines + "\n}");
  HONE_EXPECT_OK(module);
  if (!module.ok()) return 0;
  HONE_EXPECT_OK(VerifyModule(*module));
  const Module wide = InDoublePrecision(*std::move(module));
  const absl::StatusOr<Literal> result =
      Evaluate(wide, std::vector<Literal>{InDoublePrecision(x)});
  HONE_EXPECT_OK(result);
  return result.ok() ? result->AsDouble(0) : 0;
}

TEST(InDoublePrecision, KeepsDigitsThatTheTypeLoses) {
  EXPECT_EQ(Evaluated(R"(
  x = f32[] parameter(0)
  big = f32[] constant(1e8)
  a = f32[] add(x, big)
  ROOT r = f32[] subtract(a, big))",
                      Literal::Scalar(ElementType::kF32, 1)),
            1);
}

TEST(InDoublePrecision, WidensWhatRegionsAndLoopsCompute) {
  Literal x(Shape::Array(ElementType::kF32, {3}));
  x.SetDouble(0, 1e8);
  x.SetDouble(1, 1);
  x.SetDouble(2, -1e8);
  EXPECT_EQ(Evaluated(R"(
  x = f32[3] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=sum)",
                      x),
            1);
}

TEST(InDoublePrecision, LeavesOutRounding) {
  const double x = 1 + 0x1p-20;
  EXPECT_EQ(Evaluated(R"(
  x = f32[] parameter(0)
  n = bf16[] convert(x)
  c = bf16[] copy(n)
  w = f32[] convert(c)
  ROOT r = f32[] reduce-precision(w), exponent_bits=5, mantissa_bits=2)",
                      Literal::Scalar(ElementType::kF32, x)),
            x);
}

// The bits of 1.5f, and the number with the bits of 2.5f.
TEST(InDoublePrecision, KeepsBitsOfTheOriginalType) {
  EXPECT_EQ(Evaluated(R"(
  x = f32[] parameter(0)
  b = s32[] bitcast-convert(x)
  n = s32[] constant(10485760)
  m = s32[] add(b, n)
  ROOT r = f32[] bitcast-convert(m))",
                      Literal::Scalar(ElementType::kF32, 1.5)),
            3.5);
}

TEST(InDoublePrecisionInside, TakesArgumentsAsTheyAre) {
  absl::StatusOr<Module> module = ParseHloText(R"(HloModule m
ENTRY e {
  t = (f32[], (bf16[], s32[])) parameter(0)
  x = f32[] parameter(1)
  u = (bf16[], s32[]) get-tuple-element(t), index=1
  a = bf16[] get-tuple-element(u), index=0
  b = f32[] convert(a)
  c = f32[] get-tuple-element(t), index=0
  big = f32[] constant(1e8)
  d = f32[] add(b, big)
  e = f32[] add(d, c)
  f = f32[] subtract(e, big)
  g = f32[] add(f, x)
  ROOT r = (f32[], f32[]) tuple(g, x)
})");
  HONE_ASSERT_OK(module);
  const Module wide = InDoublePrecisionInside(*std::move(module));
  HONE_EXPECT_OK(VerifyModule(wide));
  HONE_ASSERT_OK_AND_ASSIGN(
      const Literal result,
      Evaluate(
          wide,
          std::vector<Literal>{
              Literal::Tuple(
                  {Literal::Scalar(ElementType::kF32, 1),
                   Literal::Tuple({Literal::Scalar(ElementType::kBf16, 2),
                                   Literal::ScalarInt(ElementType::kS32, 7)})}),
              Literal::Scalar(ElementType::kF32, 4)}));
  EXPECT_EQ(result.elements()[0].AsDouble(0), 7);
  EXPECT_EQ(result.elements()[1].AsDouble(0), 4);
  EXPECT_EQ(result.elements()[1].shape().element_type(), ElementType::kF64);
}

TEST(InDoublePrecision, LeavesIntegersAlone) {
  EXPECT_EQ(Evaluated(R"(
  x = s8[] parameter(0)
  ROOT r = s8[] add(x, x))",
                      Literal::ScalarInt(ElementType::kS8, 100)),
            -56);
}

}  // namespace
}  // namespace hone::hlo
