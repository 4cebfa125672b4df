#include "gtest/gtest.h"

#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

TEST(ComputationDeduplicator, MergesEqualComputationsBottomUp) {
  ExpectRewrites("computation-deduplicator", R"(
HloModule m
inner.1 {
  a = f32[4] parameter(0)
  ROOT r = f32[4] negate(a)
}
inner.2 {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x), metadata={op_name="other"}
}
outer.1 {
  a = f32[4] parameter(0)
  ROOT r = f32[4] call(a), to_apply=inner.1
}
outer.2 {
  a = f32[4] parameter(0)
  ROOT r = f32[4] call(a), to_apply=inner.2
}
ENTRY e {
  p = f32[4] parameter(0)
  x = f32[4] call(p), to_apply=outer.1
  ROOT y = f32[4] call(x), to_apply=outer.2
})",
                 R"(
HloModule m
inner {
  a = f32[4] parameter(0)
  ROOT r = f32[4] negate(a)
}
outer {
  a = f32[4] parameter(0)
  ROOT r = f32[4] call(a), to_apply=inner
}
ENTRY e {
  p = f32[4] parameter(0)
  x = f32[4] call(p), to_apply=outer
  ROOT y = f32[4] call(x), to_apply=outer
})");
}

TEST(ComputationDeduplicator, KeepsDifferentComputations) {
  ExpectUnchanged("computation-deduplicator", R"(
HloModule m
plus {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] subtract(a, b)
}
swapped {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] subtract(b, a)
}
first {
  ROOT a = f32[] parameter(0)
  b = f32[] parameter(1)
}
second {
  a = f32[] parameter(0)
  ROOT b = f32[] parameter(1)
}
one {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] constant(1)
  ROOT r = f32[] add(a, c)
}
two {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] constant(2)
  ROOT r = f32[] add(a, c)
}
ENTRY e {
  p = f32[] parameter(0)
  a = f32[] call(p, p), to_apply=plus
  b = f32[] call(a, p), to_apply=swapped
  c = f32[] call(b, p), to_apply=first
  d = f32[] call(c, p), to_apply=second
  f = f32[] call(d, p), to_apply=one
  ROOT g = f32[] call(f, p), to_apply=two
})");
}

}  // namespace
}  // namespace hone::hlo
