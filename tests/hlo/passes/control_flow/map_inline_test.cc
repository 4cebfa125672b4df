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

}  // namespace
}  // namespace hone::hlo
