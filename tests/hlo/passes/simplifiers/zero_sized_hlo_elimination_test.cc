#include "gtest/gtest.h"

#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

TEST(ZeroSizedHloElimination, ReplacesEmptyArraysByConstants) {
  ExpectRewrites("zero_sized_hlo_elimination", R"(
HloModule m
ENTRY e {
  p = f32[3] parameter(0)
  empty = f32[0] slice(p), slice={[1:1]}
  twice = f32[0] add(empty, empty)
  ROOT r = f32[3] concatenate(p, twice), dimensions={0}
})",
                 R"(
HloModule m
ENTRY e {
  p = f32[3] parameter(0)
  empty = f32[0] constant({})
  ROOT r = f32[3] concatenate(p, empty), dimensions={0}
})");
}

TEST(ZeroSizedHloElimination, ReplacesTheRoot) {
  ExpectRewrites("zero_sized_hlo_elimination", R"(
HloModule m
ENTRY e {
  p = f32[0,2] parameter(0)
  ROOT r = f32[0,2] negate(p)
})",
                 R"(
HloModule m
ENTRY e {
  p = f32[0,2] parameter(0)
  ROOT r = f32[0,2] constant({})
})");
}

TEST(ZeroSizedHloElimination, KeepsWhatMayNotGo) {
  ExpectUnchanged("zero_sized_hlo_elimination", R"(
HloModule m
ENTRY e {
  p = f32[0] parameter(0)
  c = f32[0] constant({})
  x = f32[0] custom-call(p), custom_call_target="effect"
  t = (f32[0], f32[0]) tuple(c, x)
  z = f32[] constant(0)
  ROOT r = (f32[], (f32[0], f32[0])) tuple(z, t)
})");
}

TEST(ZeroSizedHloElimination, CarriesAttributes) {
  ExpectRewrites("zero_sized_hlo_elimination", R"(
HloModule m
ENTRY e {
  p = c64[0,2] parameter(0)
  ROOT r = c64[0,2] negate(p), sharding={replicated}, frontend_attributes={a="1"}
})",
                 R"(
HloModule m
ENTRY e {
  p = c64[0,2] parameter(0)
  ROOT r = c64[0,2] constant({}), sharding={replicated}, frontend_attributes={a="1"}
})");
}

TEST(ZeroSizedHloElimination, KeepsDynamicShapesAndEffects) {
  ExpectUnchanged("zero_sized_hlo_elimination", R"(
HloModule m
f {
  a = f32[0] parameter(0)
  ROOT r = f32[0] custom-call(a), custom_call_target="effect"
}
ENTRY e {
  p = f32[<=3,0] parameter(0)
  q = f32[0] parameter(1)
  n = f32[<=3,0] negate(p)
  c = f32[0] call(q), to_apply=f
  ROOT t = (f32[<=3,0], f32[0]) tuple(n, c)
})");
}

}  // namespace
}  // namespace hone::hlo
