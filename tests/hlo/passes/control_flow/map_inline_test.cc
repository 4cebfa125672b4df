#include "gtest/gtest.h"

#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

TEST(MapInline, InlinesOneOperation) {
  ExpectRewrites("map-inline", R"(
HloModule m
f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(b, a), direction=LT
}
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  ROOT r = pred[4] map(x, y), dimensions={0}, to_apply=f
})",
                 R"(
HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  ROOT r = pred[4] compare(y, x), direction=LT
})");
}

TEST(MapInline, InlinesAParameterAndAConstant) {
  ExpectRewrites("map-inline", R"(
HloModule m
second {
  a = f32[] parameter(0)
  ROOT b = f32[] parameter(1)
}
seven {
  a = f32[] parameter(0)
  ROOT r = f32[] constant(7)
}
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  s = f32[4] map(x, y), dimensions={0}, to_apply=second
  c = f32[4] map(x), dimensions={0}, to_apply=seven
  ROOT r = f32[4] add(s, c)
})",
                 R"(
HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  seven = f32[] constant(7)
  c = f32[4] broadcast(seven), dimensions={}
  ROOT r = f32[4] add(y, c)
})");
}

TEST(MapInline, KeepsLargerFunctions) {
  ExpectUnchanged("map-inline", R"(
HloModule m
f {
  a = f32[] parameter(0)
  b = f32[] sine(a)
  ROOT r = f32[] add(b, a)
}
ENTRY e {
  x = f32[4] parameter(0)
  ROOT r = f32[4] map(x), dimensions={0}, to_apply=f
})");
}

TEST(MapInline, TakesOperandsOfEachType) {
  ExpectRewrites("map-inline", R"(
HloModule m
f {
  a = s8[] parameter(0)
  p = pred[] parameter(1)
  b = s8[] parameter(2)
  ROOT r = s8[] select(p, b, a)
}
g {
  a = s8[] parameter(0)
  ROOT r = bf16[] convert(a)
}
ENTRY e {
  x = s8[2,3] parameter(0)
  p = pred[2,3] parameter(1)
  y = s8[2,3] parameter(2)
  s = s8[2,3] map(x, p, y), dimensions={0,1}, to_apply=f
  ROOT r = bf16[2,3] map(s), dimensions={0,1}, to_apply=g
})",
                 R"(
HloModule m
ENTRY e {
  x = s8[2,3] parameter(0)
  p = pred[2,3] parameter(1)
  y = s8[2,3] parameter(2)
  s = s8[2,3] select(p, y, x)
  ROOT r = bf16[2,3] convert(s)
})");
}

TEST(MapInline, InlinesNestedMapsOfScalars) {
  ExpectRewrites("map-inline", R"(
HloModule m
f {
  a = f32[] parameter(0)
  ROOT r = f32[] negate(a)
}
g {
  a = f32[] parameter(0)
  ROOT r = f32[] map(a), dimensions={}, to_apply=f
}
ENTRY e {
  x = f32[0,3] parameter(0)
  ROOT r = f32[0,3] map(x), dimensions={0,1}, to_apply=g
})",
                 R"(
HloModule m
ENTRY e {
  x = f32[0,3] parameter(0)
  ROOT r = f32[0,3] negate(x)
})");
}

TEST(MapInline, KeepsEffectsAndConstantsInside) {
  ExpectUnchanged("map-inline", R"(
HloModule m
f {
  a = f32[] parameter(0)
  c = f32[] custom-call(a), custom_call_target="effect"
  ROOT r = f32[] negate(a)
}
g {
  a = f32[] parameter(0)
  c = f32[] constant(2)
  ROOT r = f32[] add(a, c)
}
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] map(x), dimensions={0}, to_apply=f
  ROOT r = f32[4] map(y), dimensions={0}, to_apply=g
})");
}

}  // namespace
}  // namespace hone::hlo
