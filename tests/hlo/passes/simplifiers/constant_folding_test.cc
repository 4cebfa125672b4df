#include "gtest/gtest.h"

#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

TEST(ConstantFolding, FoldsChainsInOneRun) {
  ExpectRewrites("constant_folding", R"(
HloModule m
ENTRY e {
  p = s32[3] parameter(0)
  a = s32[3] constant({1, 2, 3})
  b = s32[3] constant({4, 5, 6})
  c = s32[3] add(a, b)
  d = s32[3] negate(c)
  ROOT r = s32[3] multiply(p, d)
})",
                 R"(
HloModule m
ENTRY e {
  p = s32[3] parameter(0)
  d = s32[3] constant({-5, -7, -9})
  ROOT r = s32[3] multiply(p, d)
})");
}

TEST(ConstantFolding, FoldsInsideRegionsAndKeepsSharedOperands) {
  ExpectRewrites("constant_folding", R"(
HloModule m
f {
  a = f32[] parameter(0)
  two = f32[] constant(2)
  four = f32[] multiply(two, two)
  x = f32[] add(a, four)
  ROOT r = f32[] divide(x, two)
}
ENTRY e {
  p = f32[] parameter(0)
  ROOT r = f32[] call(p), to_apply=f
})",
                 R"(
HloModule m
f {
  a = f32[] parameter(0)
  two = f32[] constant(2)
  four = f32[] constant(4)
  x = f32[] add(a, four)
  ROOT r = f32[] divide(x, two)
}
ENTRY e {
  p = f32[] parameter(0)
  ROOT r = f32[] call(p), to_apply=f
})");
}

TEST(ConstantFolding, FoldsIotasAndBroadcastsBelowAnInstruction) {
  ExpectRewrites("constant_folding", R"(
HloModule m
ENTRY e {
  i = s32[4] iota(), iota_dimension=0
  two = s32[] constant(2)
  b = s32[4] broadcast(two), dimensions={}
  ROOT r = pred[4] compare(i, b), direction=LT
})",
                 R"(
HloModule m
ENTRY e {
  ROOT r = pred[4] constant({1, 1, 0, 0})
})");
}

TEST(ConstantFolding, FoldsRegionsAppliedPerElement) {
  ExpectRewrites("constant_folding", R"(
HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  p = f32[] parameter(0)
  c = f32[2,2] constant({{1, 2}, {3, 4}})
  z = f32[] constant(0)
  s = f32[] reduce(c, z), dimensions={0,1}, to_apply=sum
  ROOT r = f32[] add(p, s)
})",
                 R"(
HloModule m
ENTRY e {
  p = f32[] parameter(0)
  s = f32[] constant(10)
  ROOT r = f32[] add(p, s)
}
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
})");
}

TEST(ConstantFolding, DoesNotGrowConstants) {
  ExpectUnchanged("constant_folding", R"(
HloModule m
ENTRY e {
  c = f32[] constant(1)
  small = f32[4] broadcast(c), dimensions={}
  i = s32[100] iota(), iota_dimension=0
  big = s32[4000] iota(), iota_dimension=0
  grown = s32[4000] negate(big)
  padded = f32[4000] pad(small, c), padding=0_3996
  ROOT t = (f32[4], s32[100], s32[4000], f32[4000]) tuple(small, i, grown, padded)
})");
}

TEST(ConstantFolding, KeepsWhatItMustNotEvaluate) {
  ExpectUnchanged("constant_folding", R"(
HloModule m
f {
  a = f32[] parameter(0)
  ROOT r = f32[] negate(a)
}
ENTRY e {
  c = f32[] constant(1)
  elided = f32[100] constant({...})
  a = f32[100] negate(elided)
  b = f32[] call(c), to_apply=f
  d = f32[4] rng(c, c), distribution=rng_uniform
  x = f32[] custom-call(c), custom_call_target="effect"
  n = f32[] negate(c), control-predecessors={x}
  ROOT t = (f32[100], f32[], f32[4], f32[], f32[]) tuple(a, b, d, x, n)
})");
}

}  // namespace
}  // namespace hone::hlo
