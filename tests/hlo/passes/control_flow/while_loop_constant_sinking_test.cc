#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

TEST(WhileLoopConstantSinking, PutsConstantsInBodyAndCondition) {
  ExpectRewrites("while-loop-constant-sinking", R"(
HloModule m
condition {
  t = (s32[], s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] get-tuple-element(t), index=1
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] get-tuple-element(t), index=1
  next = s32[] add(i, n)
  x = f32[3] get-tuple-element(t), index=2
  ROOT r = (s32[], s32[], f32[3]) tuple(next, n, x)
}
ENTRY e {
  x = f32[3] parameter(0)
  zero = s32[] constant(0)
  two = s32[] constant(2)
  t = (s32[], s32[], f32[3]) tuple(zero, two, x)
  ROOT w = (s32[], s32[], f32[3]) while(t), condition=condition, body=body
})",
                 R"(
HloModule m
condition {
  t = (s32[], s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(2)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] get-tuple-element(t), index=1
  two = s32[] constant(2)
  next = s32[] add(i, two)
  x = f32[3] get-tuple-element(t), index=2
  ROOT r = (s32[], s32[], f32[3]) tuple(next, n, x)
}
ENTRY e {
  x = f32[3] parameter(0)
  zero = s32[] constant(0)
  two = s32[] constant(2)
  t = (s32[], s32[], f32[3]) tuple(zero, two, x)
  ROOT w = (s32[], s32[], f32[3]) while(t), condition=condition, body=body
})");
}

// Constants go from the entry into the outer body, and from there into the
// inner.
TEST(WhileLoopConstantSinking, ReachesInnerLoopsInOneRun) {
  constexpr char kLoops[] = R"(
HloModule m
inner_condition {
  t = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(20)
  ROOT r = pred[] compare(i, n), direction=LT
}
inner_body {
  t = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] get-tuple-element(t), index=1$INNER
  ROOT r = (s32[], s32[]) tuple(next, n)
}
outer_condition {
  t = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(10)
  ROOT r = pred[] compare(i, n), direction=LT
}
outer_body {
  t = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] get-tuple-element(t), index=1$OUTER
  w = (s32[], s32[]) while(u), condition=inner_condition, body=inner_body
  j = s32[] get-tuple-element(w), index=0
  ROOT r = (s32[], s32[]) tuple(j, n)
}
ENTRY e {
  i = s32[] parameter(0)
  two = s32[] constant(2)
  t = (s32[], s32[]) tuple(i, two)
  ROOT w = (s32[], s32[]) while(t), condition=outer_condition, body=outer_body
})";
  ExpectRewrites(
      "while-loop-constant-sinking",
      absl::StrReplaceAll(kLoops,
                          {{"$INNER", "\n  next = s32[] add(i, n)"},
                           {"$OUTER", "\n  u = (s32[], s32[]) tuple(i, n)"}}),
      absl::StrReplaceAll(kLoops, {{"$INNER",
                                    "\n  two = s32[] constant(2)"
                                    "\n  next = s32[] add(i, two)"},
                                   {"$OUTER",
                                    "\n  two = s32[] constant(2)"
                                    "\n  u = (s32[], s32[]) tuple(i, two)"}}));
}

TEST(WhileLoopConstantSinking, KeepsWhatChanges) {
  ExpectUnchanged("while-loop-constant-sinking", R"(
HloModule m
condition {
  t = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] get-tuple-element(t), index=1
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] get-tuple-element(t), index=1
  next = s32[] add(i, n)
  ROOT r = (s32[], s32[]) tuple(n, next)
}
ENTRY e {
  zero = s32[] constant(0)
  two = s32[] constant(2)
  t = (s32[], s32[]) tuple(two, zero)
  ROOT w = (s32[], s32[]) while(t), condition=condition, body=body
})");
}

// A read that nothing uses: not even a dead one goes without saying so.
TEST(WhileLoopConstantSinking, LeavesDeadReads) {
  ExpectUnchanged("while-loop-constant-sinking", R"(
HloModule m
condition {
  t = (s32[], f32[3]) parameter(0)
  ROOT r = pred[] constant(false)
}
body {
  t = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  dead = s32[] get-tuple-element(t), index=0
  x = f32[3] get-tuple-element(t), index=1
  ROOT r = (s32[], f32[3]) tuple(i, x)
}
ENTRY e {
  x = f32[3] parameter(0)
  two = s32[] constant(2)
  t = (s32[], f32[3]) tuple(two, x)
  ROOT w = (s32[], f32[3]) while(t), condition=condition, body=body
})");
}

// The constant takes the sharding over, but no attribute that Hone does not
// know.
TEST(WhileLoopConstantSinking, KeepsAttributesOfReads) {
  constexpr char kLoop[] = R"(
HloModule m
condition {
  t = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] $IN_CONDITION
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] get-tuple-element(t), index=1, foo={1}
  next = s32[] add(i, n)
  ROOT r = (s32[], s32[]) tuple(next, n)
}
ENTRY e {
  i = s32[] parameter(0)
  two = s32[] constant(2)
  t = (s32[], s32[]) tuple(i, two)
  ROOT w = (s32[], s32[]) while(t), condition=condition, body=body
})";
  const auto with = [&](absl::string_view in_condition) {
    return absl::StrReplaceAll(kLoop, {{"$IN_CONDITION", in_condition}});
  };
  ExpectUnchanged("while-loop-constant-sinking",
                  with("get-tuple-element(t), index=1, foo={1}"));
  ExpectRewrites("while-loop-constant-sinking",
                 with("get-tuple-element(t), index=1, sharding={replicated}"),
                 with("constant(2), sharding={replicated}"));
}

TEST(WhileLoopConstantSinking, KeepsComputationsThatLoopsShare) {
  ExpectUnchanged("while-loop-constant-sinking", R"(
HloModule m
condition {
  t = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] get-tuple-element(t), index=1
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] get-tuple-element(t), index=1
  next = s32[] add(i, n)
  ROOT r = (s32[], s32[]) tuple(next, n)
}
ENTRY e {
  zero = s32[] constant(0)
  two = s32[] constant(2)
  three = s32[] constant(3)
  t = (s32[], s32[]) tuple(zero, two)
  w = (s32[], s32[]) while(t), condition=condition, body=body
  u = (s32[], s32[]) tuple(zero, three)
  v = (s32[], s32[]) while(u), condition=condition, body=body
  i = s32[] get-tuple-element(w), index=0
  j = s32[] get-tuple-element(v), index=0
  ROOT r = s32[] subtract(i, j)
})");
}

// The condition is an element, which is the constant; the body reads it twice
// and hands it on in another place too.
TEST(WhileLoopConstantSinking, SinksIntoRootsAndOtherPlaces) {
  ExpectRewrites("while-loop-constant-sinking", R"(
HloModule m
condition {
  t = (pred[], pred[], s8[]) parameter(0)
  ROOT p = pred[] get-tuple-element(t), index=0
}
body {
  t = (pred[], pred[], s8[]) parameter(0)
  p = pred[] get-tuple-element(t), index=0
  q = pred[] get-tuple-element(t), index=0
  x = s8[] get-tuple-element(t), index=2
  y = s8[] negate(x)
  z = s8[] select(q, x, y)
  ROOT r = (pred[], pred[], s8[]) tuple(p, p, z)
}
ENTRY e {
  x = s8[] parameter(0)
  b = pred[] parameter(1)
  no = pred[] constant(false)
  t = (pred[], pred[], s8[]) tuple(no, b, x)
  ROOT w = (pred[], pred[], s8[]) while(t), condition=condition, body=body
})",
                 R"(
HloModule m
condition {
  t = (pred[], pred[], s8[]) parameter(0)
  ROOT no = pred[] constant(false)
}
body {
  t = (pred[], pred[], s8[]) parameter(0)
  p = pred[] get-tuple-element(t), index=0
  no = pred[] constant(false)
  x = s8[] get-tuple-element(t), index=2
  y = s8[] negate(x)
  z = s8[] select(no, x, y)
  ROOT r = (pred[], pred[], s8[]) tuple(p, no, z)
}
ENTRY e {
  x = s8[] parameter(0)
  b = pred[] parameter(1)
  no = pred[] constant(false)
  t = (pred[], pred[], s8[]) tuple(no, b, x)
  ROOT w = (pred[], pred[], s8[]) while(t), condition=condition, body=body
})");
}

}  // namespace
}  // namespace hone::hlo
