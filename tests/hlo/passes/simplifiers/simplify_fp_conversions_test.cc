#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

TEST(SimplifyFpConversions, LeavesOutWiderSteps) {
  ExpectEntryRewrites("simplify-fp-conversions", R"(
  x = bf16[4] parameter(0)
  a = f32[4] convert(x)
  b = f64[4] convert(a)
  ROOT c = f16[4] convert(b))",
                      R"(
  x = bf16[4] parameter(0)
  ROOT c = f16[4] convert(x))");
}

TEST(SimplifyFpConversions, LeavesOutAWayThereAndBack) {
  ExpectEntryRewrites("simplify-fp-conversions", R"(
  x = bf16[4] parameter(0)
  a = f32[4] convert(x)
  b = bf16[4] convert(a)
  ROOT c = bf16[4] negate(b))",
                      R"(
  x = bf16[4] parameter(0)
  ROOT c = bf16[4] negate(x))");
}

TEST(SimplifyFpConversions, KeepsAStepThatOthersUse) {
  ExpectEntryRewrites("simplify-fp-conversions", R"(
  x = f16[4] parameter(0)
  a = f32[4] convert(x)
  b = f64[4] convert(a)
  ROOT r = (f32[4], f64[4]) tuple(a, b))",
                      R"(
  x = f16[4] parameter(0)
  a = f32[4] convert(x)
  b = f64[4] convert(x)
  ROOT r = (f32[4], f64[4]) tuple(a, b))");
}

TEST(SimplifyFpConversions, KeepsStepsThatRound) {
  ExpectEntryUnchanged("simplify-fp-conversions", R"(
  x = f32[4] parameter(0)
  a = bf16[4] convert(x)
  ROOT b = f32[4] convert(a))");
  ExpectEntryUnchanged("simplify-fp-conversions", R"(
  x = bf16[4] parameter(0)
  a = f16[4] convert(x)
  ROOT b = f32[4] convert(a))");
}

TEST(SimplifyFpConversions, KeepsIntegers) {
  ExpectEntryUnchanged("simplify-fp-conversions", R"(
  x = f32[4] parameter(0)
  a = s32[4] convert(x)
  ROOT b = f32[4] convert(a))");
}

TEST(SimplifyFpConversions, KeepsNarrowFormatsApart) {
  ExpectEntryUnchanged("simplify-fp-conversions", R"(
  x = f8e5m2[4] parameter(0)
  a = f8e4m3fn[4] convert(x)
  b = f8e5m2[4] convert(a)
  y = f64[4] parameter(1)
  c = f32[4] convert(y)
  d = f64[4] convert(c)
  ROOT t = (f8e5m2[4], f64[4]) tuple(b, d))");
}

TEST(SimplifyFpConversions, CarriesAttributesOfDynamicShapes) {
  ExpectEntryRewrites("simplify-fp-conversions", R"(
  x = f16[<=4] parameter(0)
  a = f32[<=4] convert(x)
  ROOT b = f64[<=4] convert(a), sharding={replicated}, frontend_attributes={a="1"})",
                      R"(
  x = f16[<=4] parameter(0)
  ROOT b = f64[<=4] convert(x), sharding={replicated}, frontend_attributes={a="1"})");
  // A parameter takes no sharding.
  ExpectEntryUnchanged("simplify-fp-conversions", R"(
  x = f16[4] parameter(0)
  a = f32[4] convert(x)
  ROOT b = f16[4] convert(a), sharding={replicated})");
}

}  // namespace
}  // namespace hone::hlo
