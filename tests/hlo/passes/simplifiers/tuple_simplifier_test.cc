#include "gtest/gtest.h"

#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

TEST(TupleSimplifier, ForwardsElementsThroughNestedTuples) {
  ExpectRewrites("tuple-simplifier", R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  q = f32[2] parameter(1)
  inner = (f32[4], f32[2]) tuple(p, q)
  outer = ((f32[4], f32[2]), f32[2]) tuple(inner, q)
  i = (f32[4], f32[2]) get-tuple-element(outer), index=0
  x = f32[4] get-tuple-element(i), index=0
  ROOT r = f32[4] negate(x)
})",
                 R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  q = f32[2] parameter(1)
  ROOT r = f32[4] negate(p)
})");
}

TEST(TupleSimplifier, RestoresATupleThatIsRebuilt) {
  ExpectRewrites("tuple-simplifier", R"(
HloModule m
condition {
  t = (s32[], f32[4]) parameter(0)
  ROOT r = pred[] constant(false)
}
body {
  t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[4] get-tuple-element(t), index=1
  ROOT r = (s32[], f32[4]) tuple(i, x)
}
ENTRY e {
  p = (s32[], f32[4]) parameter(0)
  w = (s32[], f32[4]) while(p), condition=condition, body=body
  i = s32[] get-tuple-element(w), index=0
  x = f32[4] get-tuple-element(w), index=1
  ROOT r = (s32[], f32[4]) tuple(i, x)
})",
                 R"(
HloModule m
condition {
  t = (s32[], f32[4]) parameter(0)
  ROOT r = pred[] constant(false)
}
body {
  ROOT t = (s32[], f32[4]) parameter(0)
}
ENTRY e {
  p = (s32[], f32[4]) parameter(0)
  ROOT w = (s32[], f32[4]) while(p), condition=condition, body=body
})");
}

TEST(TupleSimplifier, KeepsPartialAndPermutedTuples) {
  ExpectUnchanged("tuple-simplifier", R"(
HloModule m
ENTRY e {
  p = (f32[4], f32[4], f32[4]) parameter(0)
  a = f32[4] get-tuple-element(p), index=0
  b = f32[4] get-tuple-element(p), index=1
  partial = (f32[4], f32[4]) tuple(a, b)
  c = f32[4] get-tuple-element(p), index=2
  permuted = (f32[4], f32[4], f32[4]) tuple(b, a, c)
  empty = () tuple()
  ROOT r = ((f32[4], f32[4]), (f32[4], f32[4], f32[4]), ()) tuple(partial, permuted, empty)
})");
}

TEST(TupleSimplifier, KeepsEndsOfControlDependencies) {
  ExpectUnchanged("tuple-simplifier", R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  n = f32[4] negate(p)
  t = (f32[4], f32[4]) tuple(p, n)
  g = f32[4] get-tuple-element(t), index=0, control-predecessors={n}
  ROOT r = f32[4] abs(g)
})");
}

TEST(TupleSimplifier, CarriesAShardingOrStays) {
  ExpectRewrites("tuple-simplifier", R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  n = f32[4] negate(p)
  t = (f32[4], f32[4]) tuple(p, n)
  g = f32[4] get-tuple-element(t), index=1, sharding={replicated}
  ROOT r = f32[4] abs(g)
})",
                 R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  n = f32[4] negate(p), sharding={replicated}
  ROOT r = f32[4] abs(n)
})");
  ExpectUnchanged("tuple-simplifier", R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  n = f32[4] negate(p), sharding={maximal device=0}
  t = (f32[4], f32[4]) tuple(p, n)
  g = f32[4] get-tuple-element(t), index=1, sharding={replicated}
  ROOT r = f32[4] abs(g)
})");
}

TEST(TupleSimplifier, ForwardsTokensAndDynamicShapes) {
  ExpectRewrites("tuple-simplifier", R"(
HloModule m
ENTRY e {
  p = f32[<=4] parameter(0)
  k = token[] after-all()
  t = (f32[<=4], token[]) tuple(p, k)
  x = f32[<=4] get-tuple-element(t), index=0
  y = token[] get-tuple-element(t), index=1
  n = f32[<=4] negate(x)
  ROOT r = (f32[<=4], token[]) tuple(n, y)
})",
                 R"(
HloModule m
ENTRY e {
  p = f32[<=4] parameter(0)
  k = token[] after-all()
  n = f32[<=4] negate(p)
  ROOT r = (f32[<=4], token[]) tuple(n, k)
})");
}

}  // namespace
}  // namespace hone::hlo
