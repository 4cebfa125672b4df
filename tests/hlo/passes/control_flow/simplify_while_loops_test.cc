#include <string>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

// Runs its body `limit` times.
std::string CountedLoop(absl::string_view limit, absl::string_view effect) {
  return absl::StrReplaceAll(R"(
HloModule m
condition {
  t = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant($LIMIT)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[3] get-tuple-element(t), index=1
  y = f32[3] $EFFECT
  ROOT r = (s32[], f32[3]) tuple(next, y)
}
ENTRY e {
  x = f32[3] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[3]) tuple(zero, x)
  w = (s32[], f32[3]) while(t), condition=condition, body=body
  ROOT y = f32[3] get-tuple-element(w), index=1
})",
                             {{"$LIMIT", limit}, {"$EFFECT", effect}});
}

TEST(SimplifyWhileLoops, RemovesALoopThatNeverRuns) {
  ExpectRewrites("simplify-while-loops", CountedLoop("0", "sine(x)"), R"(
HloModule m
ENTRY e {
  x = f32[3] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[3]) tuple(zero, x)
  ROOT y = f32[3] get-tuple-element(t), index=1
})");
}

TEST(SimplifyWhileLoops, InlinesALoopThatRunsOnceWhateverItDoes) {
  constexpr char kInlined[] = R"(
HloModule m
ENTRY e {
  p = f32[3] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[3]) tuple(zero, p)
  i = s32[] get-tuple-element(t), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[3] get-tuple-element(t), index=1
  y = f32[3] $EFFECT
  r = (s32[], f32[3]) tuple(next, y)
  ROOT z = f32[3] get-tuple-element(r), index=1
})";
  for (const char* effect :
       {"sine(x)", "custom-call(x), custom_call_target=\"effect\""}) {
    ExpectRewrites("simplify-while-loops", CountedLoop("1", effect),
                   absl::StrReplaceAll(kInlined, {{"$EFFECT", effect}}));
  }
}

TEST(SimplifyWhileLoops, KeepsALoopThatRunsMoreOften) {
  ExpectUnchanged("simplify-while-loops", CountedLoop("2", "sine(x)"));
}

TEST(SimplifyWhileLoops, RemovesElementsThatNothingNeeds) {
  ExpectRewrites("simplify-while-loops", R"(
HloModule m
condition {
  t = (s32[], f32[3], f32[3], f32[2]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(5)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], f32[3], f32[3], f32[2]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  a = f32[3] get-tuple-element(t), index=1
  b = f32[3] get-tuple-element(t), index=2
  c = f32[2] get-tuple-element(t), index=3
  a.next = f32[3] multiply(a, b)
  b.next = f32[3] sine(b)
  c.next = f32[2] negate(c)
  ROOT r = (s32[], f32[3], f32[3], f32[2]) tuple(next, a.next, b.next, c.next)
}
ENTRY e {
  a = f32[3] parameter(0)
  b = f32[3] parameter(1)
  c = f32[2] parameter(2)
  zero = s32[] constant(0)
  t = (s32[], f32[3], f32[3], f32[2]) tuple(zero, a, b, c)
  w = (s32[], f32[3], f32[3], f32[2]) while(t), condition=condition, body=body
  ROOT r = f32[3] get-tuple-element(w), index=1
})",
                 R"(
HloModule m
condition {
  t = (s32[], f32[3], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(5)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], f32[3], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  a = f32[3] get-tuple-element(t), index=1
  b = f32[3] get-tuple-element(t), index=2
  a.next = f32[3] multiply(a, b)
  b.next = f32[3] sine(b)
  ROOT r = (s32[], f32[3], f32[3]) tuple(next, a.next, b.next)
}
ENTRY e {
  a = f32[3] parameter(0)
  b = f32[3] parameter(1)
  c = f32[2] parameter(2)
  zero = s32[] constant(0)
  t = (s32[], f32[3], f32[3]) tuple(zero, a, b)
  w = (s32[], f32[3], f32[3]) while(t), condition=condition, body=body
  ROOT r = f32[3] get-tuple-element(w), index=1
})");
}

// Element 1 is a constant, element 2 an argument; neither changes. Element 1
// goes; element 2 stays, because the body reads it, but not its value behind
// the loop.
TEST(SimplifyWhileLoops, ForwardsElementsThatNeverChange) {
  ExpectRewrites("simplify-while-loops", R"(
HloModule m
condition {
  t = (s32[], s32[], f32[3], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] get-tuple-element(t), index=1
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], s32[], f32[3], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] get-tuple-element(t), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  w = f32[3] get-tuple-element(t), index=2
  x = f32[3] get-tuple-element(t), index=3
  y = f32[3] multiply(x, w)
  ROOT r = (s32[], s32[], f32[3], f32[3]) tuple(next, n, w, y)
}
ENTRY e {
  w = f32[3] parameter(0)
  x = f32[3] parameter(1)
  zero = s32[] constant(0)
  five = s32[] constant(5)
  t = (s32[], s32[], f32[3], f32[3]) tuple(zero, five, w, x)
  l = (s32[], s32[], f32[3], f32[3]) while(t), condition=condition, body=body
  n = s32[] get-tuple-element(l), index=1
  v = f32[3] get-tuple-element(l), index=2
  y = f32[3] get-tuple-element(l), index=3
  ROOT r = (s32[], f32[3], f32[3]) tuple(n, v, y)
})",
                 R"(
HloModule m
condition {
  t = (s32[], f32[3], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(5)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], f32[3], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  w = f32[3] get-tuple-element(t), index=1
  x = f32[3] get-tuple-element(t), index=2
  y = f32[3] multiply(x, w)
  ROOT r = (s32[], f32[3], f32[3]) tuple(next, w, y)
}
ENTRY e {
  w = f32[3] parameter(0)
  x = f32[3] parameter(1)
  zero = s32[] constant(0)
  five = s32[] constant(5)
  t = (s32[], f32[3], f32[3]) tuple(zero, w, x)
  l = (s32[], f32[3], f32[3]) while(t), condition=condition, body=body
  y = f32[3] get-tuple-element(l), index=2
  ROOT r = (s32[], f32[3], f32[3]) tuple(five, w, y)
})");
}

// An attribute that Hone does not know stays, and so does what has it.
TEST(SimplifyWhileLoops, KeepsReadsWithUnknownAttributes) {
  ExpectUnchanged("simplify-while-loops", R"(
HloModule m
condition {
  t = (s32[], s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] get-tuple-element(t), index=1, foo={1}
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] get-tuple-element(t), index=1, foo={1}
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[3] get-tuple-element(t), index=2
  ROOT r = (s32[], s32[], f32[3]) tuple(next, n, x)
}
ENTRY e {
  x = f32[3] parameter(0)
  zero = s32[] constant(0)
  five = s32[] constant(5)
  t = (s32[], s32[], f32[3]) tuple(zero, five, x)
  w = (s32[], s32[], f32[3]) while(t), condition=condition, body=body
  y = f32[3] get-tuple-element(w), index=2, foo={1}
  ROOT r = f32[3] negate(y)
})");
}

TEST(SimplifyWhileLoops, KeepsWhatAnEffectInTheBodyNeeds) {
  ExpectUnchanged("simplify-while-loops", R"(
HloModule m
condition {
  t = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(5)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[3] get-tuple-element(t), index=1
  y = f32[3] sine(x)
  effect = f32[3] custom-call(y), custom_call_target="effect"
  ROOT r = (s32[], f32[3]) tuple(next, y)
}
ENTRY e {
  x = f32[3] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[3]) tuple(zero, x)
  w = (s32[], f32[3]) while(t), condition=condition, body=body
  ROOT i = s32[] get-tuple-element(w), index=0
})");
}

TEST(SimplifyWhileLoops, KeepsLoopsThatShareTheirBody) {
  ExpectUnchanged("simplify-while-loops", R"(
HloModule m
condition {
  t = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(5)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[3] get-tuple-element(t), index=1
  y = f32[3] sine(x)
  ROOT r = (s32[], f32[3]) tuple(next, y)
}
ENTRY e {
  x = f32[3] parameter(0)
  i = s32[] parameter(1)
  t = (s32[], f32[3]) tuple(i, x)
  w = (s32[], f32[3]) while(t), condition=condition, body=body
  a = s32[] get-tuple-element(w), index=0
  u = (s32[], f32[3]) tuple(a, x)
  v = (s32[], f32[3]) while(u), condition=condition, body=body
  ROOT b = s32[] get-tuple-element(v), index=0
})");
}

}  // namespace
}  // namespace hone::hlo
