#include "gtest/gtest.h"

#include "tests/loops/lowering/lowered.h"

namespace hone::loops {
namespace {

TEST(LowerDataMovement, RunsInPlaceOfItsReaders) {
  const Program program = ExpectLowersRight(ModuleText(R"(
  x = f32[3,5] parameter(0)
  v = f32[5] parameter(1)
  t = f32[5,3] transpose(x), dimensions={1,0}
  b = f32[5,3] broadcast(v), dimensions={0}
  i = f32[5,3] iota(), iota_dimension=1
  r = f32[5,3] reverse(t), dimensions={0,1}
  s = f32[5,3] add(b, i)
  a = f32[5,3] multiply(s, r)
  ROOT sl = f32[2,2] slice(a), slice={[1:5:3], [0:2]})"));
  EXPECT_EQ(CountLocalArrays(program), 0);
}

TEST(LowerDataMovement, PadsOnAnySide) {
  ExpectLowersRight(ModuleText(R"(
  x = f32[4,5] parameter(0)
  z = f32[] parameter(1)
  n = f32[4,5] negate(x)
  a = f32[7,4] pad(n, z), padding=2_1x-1_0
  b = f32[9,12] pad(n, z), padding=1_1_1x-2_1_2
  c = f32[1,5] pad(n, z), padding=-5_2x0_0
  d = f32[4,5] pad(n, z), padding=-3_-3_2x0_0
  e = f32[7,4] exponential(a)
  ROOT t = (f32[7,4], f32[9,12], f32[1,5], f32[4,5]) tuple(e, b, c, d))"));
}

TEST(LowerDataMovement, PadsReshapedValuesToAMultiple) {
  ExpectLowersRight(ModuleText(R"(
  x = f32[2,3] parameter(0)
  y = f32[2,3] parameter(1)
  s = f32[2,3] subtract(x, y)
  r = f32[6] reshape(s)
  z = f32[] constant(7)
  a = f32[24] pad(r, z), padding=0_18
  b = f32[48] pad(r, z), padding=18_24
  c = f32[12] pad(r, z), padding=6_0
  ROOT t = (f32[24], f32[48], f32[12]) tuple(a, b, c))"));
}

TEST(LowerDataMovement, Concatenates) {
  ExpectLowersRight(ModuleText(R"(
  x = f32[2,3] parameter(0)
  y = f32[2,1] parameter(1)
  z = f32[2,0] parameter(2)
  c = f32[2,8] concatenate(x, z, y, y, x), dimensions={1}
  d = f32[2,4] concatenate(x, y), dimensions={1}
  e = f32[2,4] exponential(d)
  ROOT t = (f32[2,8], f32[2,4]) tuple(c, e))"));
}

TEST(LowerDataMovement, ReshapesWithinExpressions) {
  // Each can be read without a buffer once the loops are chosen finely enough.
  const Program program = ExpectLowersRight(ModuleText(R"(
  x = f32[6,4] parameter(0)
  n = f32[6,4] negate(x)
  m = f32[24] reshape(n)
  a = f32[2,3,4] reshape(m)
  t = f32[4,3,2] transpose(a), dimensions={2,1,0}
  f = f32[24] reshape(t)
  ROOT e = f32[24] exponential(f))"));
  EXPECT_EQ(CountLocalArrays(program), 0);
}

TEST(LowerDataMovement, ReshapesThatCutAcrossDimensions) {
  ExpectLowersRight(ModuleText(R"(
  x = f32[6,4] parameter(0)
  n = f32[6,4] exponential(x)
  a = f32[8,3] reshape(n)
  p = f32[8,5] pad(a, f32[] constant(0)), padding=0_0x1_1
  q = f32[40] reshape(p)
  s = f32[12] slice(q), slice={[5:17]}
  r = f32[3,4] reshape(s)
  one = f32[1,3,1,4,1] reshape(r)
  ROOT e = f32[1,3,1,4,1] negate(one))"));
}

TEST(LowerDataMovement, DynamicSlicesAreClamped) {
  ExpectLowersRight(ModuleText(R"(
  x = f32[5,6] parameter(0)
  i = s32[] parameter(1)
  j = s32[] parameter(2)
  u = f32[2,3] parameter(3)
  n = f32[5,6] negate(x)
  s = f32[2,3] dynamic-slice(n, i, j), dynamic_slice_sizes={2,3}
  k = s32[] constant(-3)
  o = f32[5,3] dynamic-slice(x, k, i), dynamic_slice_sizes={5,3}
  d = f32[5,6] dynamic-update-slice(n, u, i, j)
  ROOT t = (f32[2,3], f32[5,3], f32[5,6]) tuple(s, o, d))"));
}

TEST(LowerDataMovement, DataDependentReadsOfWhatCannotBeIndexed) {
  ExpectLowersRight(ModuleText(R"(
  x = f32[6] parameter(0)
  y = f32[6] parameter(1)
  i = s32[] parameter(2)
  p = f32[9] pad(x, f32[] constant(7)), padding=2_1
  a = f32[3] dynamic-slice(p, i), dynamic_slice_sizes={3}
  n = f32[6] negate(x)
  c = f32[12] concatenate(n, y), dimensions={0}
  b = f32[3] dynamic-slice(c, i), dynamic_slice_sizes={3}
  g = f32[2,3] reshape(n)
  d = f32[1,3] dynamic-slice(g, i, i), dynamic_slice_sizes={1,3}
  io = s32[9] iota(), iota_dimension=0
  e = s32[3] dynamic-slice(io, i), dynamic_slice_sizes={3}
  r = f32[6] reverse(n), dimensions={0}
  f = f32[3] dynamic-slice(r, i), dynamic_slice_sizes={3}
  ROOT t = (f32[3], f32[3], f32[1,3], s32[3], f32[3]) tuple(a, b, d, e, f))"));
}

TEST(LowerDataMovement, EmptyArrays) {
  ExpectLowersRight(ModuleText(R"(
  x = f32[0,3] parameter(0)
  z = f32[] parameter(1)
  n = f32[0,3] negate(x)
  r = f32[3,0] reshape(n)
  p = f32[2,3] pad(n, z), padding=1_1x0_0
  ROOT t = (f32[3,0], f32[2,3]) tuple(r, p))"));
}

TEST(LowerDataMovement, CallsAndFusionsAreInlined) {
  const Program program = ExpectLowersRight(ModuleText(R"(
  x = f32[4] parameter(0)
  c = (f32[4], f32[4]) call(x), to_apply=g
  a = f32[4] get-tuple-element(c), index=0
  b = f32[4] get-tuple-element(c), index=1
  ROOT r = f32[4] fusion(a, b), kind=kLoop, calls=f)",
                                                       R"(
f {
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  ROOT s = f32[4] subtract(p, q)
}
g {
  p = f32[4] parameter(0)
  n = f32[4] negate(p)
  ROOT t = (f32[4], f32[4]) tuple(n, p)
})"));
  EXPECT_EQ(CountLocalArrays(program), 0);
}

}  // namespace
}  // namespace hone::loops
