#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

void ExpectRewrites(absl::string_view before, absl::string_view after) {
  ExpectEntryRewrites("uniform-factor-merger", before, after);
}
void ExpectUnchanged(absl::string_view body) {
  ExpectEntryUnchanged("uniform-factor-merger", body);
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

}  // namespace
}  // namespace hone::hlo
