#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

constexpr char kPass[] = "uniform-factor-merger";
const RewriteOptions kFast = {.numerics = Numerics::kFast};

// Expects the rewrite with numerics=fast only.
void ExpectRewrites(absl::string_view before, absl::string_view after) {
  ExpectEntryRewrites(kPass, before, after, kFast);
  ExpectEntryUnchanged(kPass, before);
}
void ExpectUnchanged(absl::string_view body) {
  ExpectEntryUnchanged(kPass, body, kFast);
  ExpectEntryUnchanged(kPass, body);
}

TEST(UniformFactorMerger, ComputesTheProductOfScalarsOnce) {
  ExpectRewrites(R"(
  x = f32[4] parameter(0)
  s = f32[] parameter(1)
  t = f32[] parameter(2)
  c = f32[] constant(0.5)
  bs = f32[4] broadcast(s), dimensions={}
  bt = f32[4] broadcast(t), dimensions={}
  bc = f32[4] broadcast(c), dimensions={}
  a = f32[4] multiply(x, bs)
  b = f32[4] divide(a, bt)
  ROOT r = f32[4] multiply(b, bc))",
                 R"(
  x = f32[4] parameter(0)
  s = f32[] parameter(1)
  t = f32[] parameter(2)
  c = f32[] constant(0.5)
  cs = f32[] multiply(c, s)
  k = f32[] divide(cs, t)
  bk = f32[4] broadcast(k), dimensions={}
  ROOT r = f32[4] multiply(x, bk))");
}

TEST(UniformFactorMerger, SharesTheCoefficient) {
  ExpectRewrites(R"(
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  s = f32[] parameter(2)
  t = f32[] parameter(3)
  bs = f32[4] broadcast(s), dimensions={}
  bt = f32[4] broadcast(t), dimensions={}
  a = f32[4] multiply(x, bs)
  b = f32[4] multiply(a, bt)
  c = f32[4] multiply(y, bt)
  d = f32[4] multiply(bs, c)
  ROOT r = (f32[4], f32[4]) tuple(b, d))",
                 R"(
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  s = f32[] parameter(2)
  t = f32[] parameter(3)
  k = f32[] multiply(s, t)
  bk = f32[4] broadcast(k), dimensions={}
  b = f32[4] multiply(x, bk)
  d = f32[4] multiply(y, bk)
  ROOT r = (f32[4], f32[4]) tuple(b, d))");
}

// The moments of Adam: both users of the clipped gradient take the factor over.
TEST(UniformFactorMerger, TakesAFactorOutOfAnOperandThatDies) {
  ExpectRewrites(R"(
  g = f32[4] parameter(0)
  clip = f32[] parameter(1)
  bclip = f32[4] broadcast(clip), dimensions={}
  c = f32[] constant(0.5)
  bc = f32[4] broadcast(c), dimensions={}
  d = f32[] constant(0.25)
  bd = f32[4] broadcast(d), dimensions={}
  clipped = f32[4] multiply(g, bclip)
  first = f32[4] multiply(clipped, bc)
  scaled = f32[4] multiply(clipped, bd)
  second = f32[4] multiply(scaled, clipped)
  ROOT r = (f32[4], f32[4]) tuple(first, second))",
                 R"(
  g = f32[4] parameter(0)
  clip = f32[] parameter(1)
  d = f32[] constant(0.25)
  dclip = f32[] multiply(d, clip)
  d2 = f32[] multiply(dclip, clip)
  bd = f32[4] broadcast(d2), dimensions={}
  scaled = f32[4] multiply(g, bd)
  second = f32[4] multiply(scaled, g)
  c = f32[] constant(0.5)
  cclip = f32[] multiply(c, clip)
  bc = f32[4] broadcast(cclip), dimensions={}
  first = f32[4] multiply(g, bc)
  ROOT r = (f32[4], f32[4]) tuple(first, second))");
}

TEST(UniformFactorMerger, KeepsTheDivisionByATensor) {
  ExpectRewrites(R"(
  x = f64[2,3] parameter(0)
  y = f64[2,3] parameter(1)
  s = f64[] parameter(2)
  bs = f64[2,3] broadcast(s), dimensions={}
  t = f64[] parameter(3)
  bt = f64[2,3] broadcast(t), dimensions={}
  a = f64[2,3] divide(x, bs)
  b = f64[2,3] multiply(a, bt)
  ROOT r = f64[2,3] divide(b, y))",
                 R"(
  x = f64[2,3] parameter(0)
  y = f64[2,3] parameter(1)
  s = f64[] parameter(2)
  t = f64[] parameter(3)
  k = f64[] divide(t, s)
  bk = f64[2,3] broadcast(k), dimensions={}
  b = f64[2,3] multiply(x, bk)
  ROOT r = f64[2,3] divide(b, y))");
}

TEST(UniformFactorMerger, LeavesWhatWouldCostMore) {
  // One factor.
  ExpectUnchanged(R"(
  x = f32[4] parameter(0)
  s = f32[] parameter(1)
  bs = f32[4] broadcast(s), dimensions={}
  y = f32[4] parameter(2)
  a = f32[4] multiply(x, bs)
  ROOT r = f32[4] multiply(a, y))");
  // x * x * (s * s) is as many operations as there are, and one more for the
  // operand that stays.
  ExpectUnchanged(R"(
  x = f32[4] parameter(0)
  s = f32[] parameter(1)
  bs = f32[4] broadcast(s), dimensions={}
  a = f32[4] multiply(x, bs)
  b = f32[4] multiply(a, a)
  ROOT r = (f32[4], f32[4]) tuple(a, b))");
}

TEST(UniformFactorMerger, LeavesConstantsWhoseProductUnderflows) {
  ExpectUnchanged(R"(
  x = f32[4] parameter(0)
  s = f32[] constant(1e-30)
  bs = f32[4] broadcast(s), dimensions={}
  a = f32[4] multiply(x, bs)
  ROOT r = f32[4] multiply(a, bs))");
  ExpectUnchanged(R"(
  x = f32[4] parameter(0)
  y = f32[] parameter(1)
  s = f32[] constant(0)
  bs = f32[4] broadcast(s), dimensions={}
  by = f32[4] broadcast(y), dimensions={}
  a = f32[4] multiply(x, bs)
  ROOT r = f32[4] divide(by, a))");
}

TEST(UniformFactorMerger, LeavesNarrowTypes) {
  ExpectUnchanged(R"(
  x = f16[4] parameter(0)
  s = f16[] parameter(1)
  bs = f16[4] broadcast(s), dimensions={}
  a = f16[4] multiply(x, bs)
  ROOT r = f16[4] multiply(a, bs))");
}

// x * s * t may be finite where s * t is not, and 0 where 0 * (s * t) is NaN.
TEST(UniformFactorMerger, LeavesRunTimeScalarsByDefault) {
  ExpectEntryUnchanged(kPass, R"(
  x = f64[2,3] parameter(0)
  s = f64[] parameter(1)
  t = f64[] parameter(2)
  bs = f64[2,3] broadcast(s), dimensions={}
  bt = f64[2,3] broadcast(t), dimensions={}
  a = f64[2,3] divide(x, bs)
  ROOT b = f64[2,3] multiply(a, bt))");
  ExpectEntryUnchanged(kPass, R"(
  x = f32[4] parameter(0)
  s = f32[] parameter(1)
  bs = f32[4] broadcast(s), dimensions={}
  a = f32[4] divide(bs, x)
  ROOT b = f32[4] divide(a, bs))");
}

// The factors are like a loss scale written into the module, out of sight of
// constant_folding.
TEST(UniformFactorMerger, KeepsProductsFinite) {
  ExpectEntryUnchanged(kPass, R"(
  g = f32[8] parameter(0)
  k = f32[] constant(1e30)
  s = f32[] opt-barrier(k)
  t = f32[] opt-barrier(k)
  bs = f32[8] broadcast(s), dimensions={}
  bt = f32[8] broadcast(t), dimensions={}
  a = f32[8] multiply(g, bs)
  ROOT d = f32[8] multiply(a, bt))");
}

// A small factor may be what keeps a product of tensors finite.
TEST(UniformFactorMerger, LeavesConstantsAroundATensorByDefault) {
  ExpectRewrites(R"(
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  c = f32[] constant(0.5)
  bc = f32[4] broadcast(c), dimensions={}
  a = f32[4] multiply(x, bc)
  b = f32[4] multiply(a, y)
  ROOT r = f32[4] multiply(b, bc))",
                 R"(
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  c = f32[] constant(0.25)
  bc = f32[4] broadcast(c), dimensions={}
  a = f32[4] multiply(x, bc)
  ROOT r = f32[4] multiply(a, y))");
}

TEST(UniformFactorMerger, MultipliesConstantsOnOneSideOfOne) {
  ExpectEntryRewrites(kPass, R"(
  x = f32[4] parameter(0)
  c = f32[] constant(-2)
  d = f32[] constant(0.25)
  bc = f32[4] broadcast(c), dimensions={}
  bd = f32[4] broadcast(d), dimensions={}
  a = f32[4] multiply(x, bc)
  ROOT b = f32[4] divide(a, bd))",
                      R"(
  x = f32[4] parameter(0)
  c = f32[] constant(-8)
  bc = f32[4] broadcast(c), dimensions={}
  ROOT b = f32[4] multiply(x, bc))");
  ExpectEntryRewrites(kPass, R"(
  x = f64[4] parameter(0)
  c = f64[] constant(0.5)
  d = f64[] constant(4)
  bc = f64[4] broadcast(c), dimensions={}
  bd = f64[4] broadcast(d), dimensions={}
  a = f64[4] divide(x, bd)
  b = f64[4] multiply(bc, a)
  ROOT t = (f64[4], f64[4]) tuple(a, b))",
                      R"(
  x = f64[4] parameter(0)
  c = f64[] constant(0.125)
  d = f64[] constant(4)
  bc = f64[4] broadcast(c), dimensions={}
  bd = f64[4] broadcast(d), dimensions={}
  a = f64[4] divide(x, bd)
  b = f64[4] multiply(x, bc)
  ROOT t = (f64[4], f64[4]) tuple(a, b))");
}

// x * 1e-30 is 0 for x = 1e-20, and 1e30 times that as well; x * 1e30 is
// infinite for x = 1e20.
TEST(UniformFactorMerger, LeavesConstantsOnBothSidesOfOneByDefault) {
  for (const char* order : {"c, d", "d, c"}) {
    SCOPED_TRACE(order);
    const std::string first(1, order[0]);
    const std::string second(1, order[3]);
    ExpectEntryUnchanged(kPass, absl::StrCat(R"(
  x = f32[4] parameter(0)
  kc = f32[] constant(1e-30)
  kd = f32[] constant(1e30)
  c = f32[4] broadcast(kc), dimensions={}
  d = f32[4] broadcast(kd), dimensions={}
  a = f32[4] multiply(x, )",
                                             first, R"()
  ROOT b = f32[4] multiply(a, )",
                                             second, ")"));
  }
}

TEST(UniformFactorMerger, NeedsAFiniteNormalConstant) {
  for (const char* constant : {"1e30", "1e-25", "inf", "nan"}) {
    SCOPED_TRACE(constant);
    ExpectUnchanged(absl::StrCat(R"(
  x = f32[4] parameter(0)
  c = f32[] constant()",
                                 constant, R"()
  bc = f32[4] broadcast(c), dimensions={}
  a = f32[4] multiply(x, bc)
  ROOT b = f32[4] multiply(a, bc))"));
  }
}

TEST(UniformFactorMerger, IsNotExact) {
  ExpectEntryUnchanged(kPass, R"(
  x = f32[4] parameter(0)
  c = f32[] constant(3)
  bc = f32[4] broadcast(c), dimensions={}
  a = f32[4] multiply(x, bc)
  ROOT b = f32[4] multiply(a, bc))",
                       {.numerics = Numerics::kExact});
}

// d stays because tc would lose its sharding; b has the same factors.
TEST(UniformFactorMerger, MakesACoefficientAgainThatAProductDidNotTake) {
  constexpr char kSum[] = R"(
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  s = f32[] parameter(2)
  t = f32[] parameter(3)
  sb = f32[8] broadcast(s), dimensions={}
  tc = f32[8] broadcast(t), dimensions={}, sharding={devices=[2]<=[2]}
  c = f32[8] multiply(y, sb)
  d = f32[8] multiply(c, tc)
  $B
  ROOT r = f32[8] $OPCODE)";
  for (const char* opcode : {"subtract(b, d)", "subtract(d, b)"}) {
    SCOPED_TRACE(opcode);
    const auto with = [&](absl::string_view b) {
      return absl::StrReplaceAll(kSum, {{"$B", b}, {"$OPCODE", opcode}});
    };
    ExpectRewrites(with(R"(tb = f32[8] broadcast(t), dimensions={}
  a = f32[8] multiply(x, sb)
  b = f32[8] multiply(a, tb))"),
                   with(R"(k = f32[] multiply(s, t)
  kb = f32[8] broadcast(k), dimensions={}
  b = f32[8] multiply(x, kb))"));
  }
}

TEST(UniformFactorMerger, CarriesAttributes) {
  ExpectEntryRewrites(kPass, R"(
  x = f32[8] parameter(0)
  c = f32[] constant(3)
  bc = f32[8] broadcast(c), dimensions={}
  a = f32[8] multiply(x, bc)
  ROOT b = f32[8] multiply(a, bc), sharding={devices=[2]<=[2]}, frontend_attributes={_xla_stream_annotation="1"})",
                      R"(
  x = f32[8] parameter(0)
  c = f32[] constant(9)
  bc = f32[8] broadcast(c), dimensions={}
  ROOT b = f32[8] multiply(x, bc), sharding={devices=[2]<=[2]}, frontend_attributes={_xla_stream_annotation="1"})");
  ExpectUnchanged(R"(
  x = f32[8] parameter(0)
  s = f32[] parameter(1)
  t = f32[] parameter(2)
  sb = f32[8] broadcast(s), dimensions={}
  tb = f32[8] broadcast(t), dimensions={}
  d = f32[8] multiply(x, sb), sharding={devices=[2]<=[2]}
  ROOT r = f32[8] multiply(d, tb))");
}

// A product is not taken apart further than it may have factors.
TEST(UniformFactorMerger, LeavesALongProduct) {
  constexpr int kLength = 100'000;
  std::string body = "x0 = f32[4] parameter(0)\ny = f32[4] parameter(1)\n";
  for (int i = 0; i < kLength; ++i) {
    absl::StrAppend(&body, i + 1 == kLength ? "ROOT " : "", "x", i + 1,
                    " = f32[4] multiply(x", i, ", y)\n");
  }
  ExpectUnchanged(body);
}

}  // namespace
}  // namespace hone::hlo
