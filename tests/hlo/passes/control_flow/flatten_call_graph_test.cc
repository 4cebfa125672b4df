#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

TEST(FlattenCallGraph, ClonesDownToNestedCalls) {
  ExpectRewrites("flatten-call-graph", R"(
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
  y = f32[4] call(x), to_apply=outer
  ROOT z = f32[4] call(y), to_apply=inner
})",
                 R"(
HloModule m
inner.1 {
  a = f32[4] parameter(0)
  ROOT r = f32[4] negate(a)
}
inner.2 {
  a = f32[4] parameter(0)
  ROOT r = f32[4] negate(a)
}
inner.3 {
  a = f32[4] parameter(0)
  ROOT r = f32[4] negate(a)
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
  y = f32[4] call(x), to_apply=outer.2
  ROOT z = f32[4] call(y), to_apply=inner.3
})");
}

TEST(FlattenCallGraph, SeparatesCallsFromAppliedRegionsWhichShareOn) {
  ExpectRewrites("flatten-call-graph", R"(
HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  p = f32[4,4] parameter(0)
  z = f32[] constant(0)
  x = f32[4] reduce(p, z), dimensions={0}, to_apply=sum
  y = f32[] reduce(x, z), dimensions={0}, to_apply=sum
  ROOT r = f32[] call(y, y), to_apply=sum
})",
                 R"(
HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
sum.call {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  p = f32[4,4] parameter(0)
  z = f32[] constant(0)
  x = f32[4] reduce(p, z), dimensions={0}, to_apply=sum
  y = f32[] reduce(x, z), dimensions={0}, to_apply=sum
  ROOT r = f32[] call(y, y), to_apply=sum.call
})");
}

TEST(FlattenCallGraph, SeparatesTheBranchesOfAConditional) {
  ExpectRewrites("flatten-call-graph", R"(
HloModule m
f {
  a = f32[] parameter(0)
  ROOT r = f32[] negate(a)
}
ENTRY e {
  i = s32[] parameter(0)
  p = f32[] parameter(1)
  ROOT r = f32[] conditional(i, p, p), branch_computations={f, f}
})",
                 R"(
HloModule m
f {
  a = f32[] parameter(0)
  ROOT r = f32[] negate(a)
}
g {
  a = f32[] parameter(0)
  ROOT r = f32[] negate(a)
}
ENTRY e {
  i = s32[] parameter(0)
  p = f32[] parameter(1)
  ROOT r = f32[] conditional(i, p, p), branch_computations={f, g}
})");
}

TEST(FlattenCallGraph, LeavesTreesAlone) {
  ExpectUnchanged("flatten-call-graph", R"(
HloModule m
f {
  a = f32[] parameter(0)
  ROOT r = f32[] negate(a)
}
ENTRY e {
  p = f32[] parameter(0)
  ROOT r = f32[] call(p), to_apply=f
})");
}

// A body that two loops share, with an effect, and their order.
TEST(FlattenCallGraph, SeparatesLoopsAndKeepsAttributes) {
  constexpr char kText[] = R"(
HloModule m
condition {
  i = s32[] parameter(0)
  n = s32[] constant(5)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  i = s32[] parameter(0)
  one = s32[] constant(1)
  ROOT j = s32[] add(i, one)
}$MORE
ENTRY e {
  i = s32[] parameter(0)
  a = s32[] while(i), condition=condition, body=body, frontend_attributes={k="v"}
  b = s32[] while(i), condition=$C, body=$B, control-predecessors={a}
  ROOT r = s32[] add(a, b)
})";
  ExpectRewrites(
      "flatten-call-graph",
      absl::StrReplaceAll(kText,
                          {{"$MORE", ""}, {"$C", "condition"}, {"$B", "body"}}),
      absl::StrReplaceAll(kText, {{"$MORE", R"(
condition.clone {
  i = s32[] parameter(0)
  n = s32[] constant(5)
  ROOT r = pred[] compare(i, n), direction=LT
}
body.clone {
  i = s32[] parameter(0)
  one = s32[] constant(1)
  ROOT j = s32[] add(i, one)
})"},
                                  {"$C", "condition.clone"},
                                  {"$B", "body.clone"}}));
}

}  // namespace
}  // namespace hone::hlo
