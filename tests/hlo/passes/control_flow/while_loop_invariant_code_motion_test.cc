#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "hlo/equivalence/equivalence.h"
#include "hlo/inference/verifier.h"
#include "hlo/passes/registry.h"
#include "hlo/text/printer.h"
#include "tests/hlo/passes/control_flow/run_pass.h"
#include "tests/hlo/passes/golden.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

constexpr char kName[] = "while-loop-invariant-code-motion";

// The weight w is handed on unchanged.
std::string Loop(absl::string_view body, absl::string_view attributes = "") {
  return absl::StrReplaceAll(R"(
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
  $BODY
  ROOT r = (s32[], f32[3], f32[3]) tuple(next, w, y)
}
ENTRY e {
  w = f32[3] parameter(0)
  x = f32[3] parameter(1)
  zero = s32[] constant(0)
  t = (s32[], f32[3], f32[3]) tuple(zero, w, x)
  l = (s32[], f32[3], f32[3]) while(t), condition=condition, body=body$ATTRIBUTES
  ROOT y = f32[3] get-tuple-element(l), index=2
})",
                             {{"$BODY", body}, {"$ATTRIBUTES", attributes}});
}

// The constant and the broadcast come along; only the sum becomes an element.
TEST(WhileLoopInvariantCodeMotion, MovesWhatIsTheSameInEveryRound) {
  ExpectRewrites(kName, Loop(R"(
  c = f32[] constant(0.5)
  b = f32[3] broadcast(c), dimensions={}
  s = f32[3] sine(w)
  v = f32[3] add(s, b)
  y = f32[3] multiply(x, v))"),
                 R"(
HloModule m
condition {
  t = (s32[], f32[3], f32[3], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(5)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], f32[3], f32[3], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  w = f32[3] get-tuple-element(t), index=1
  x = f32[3] get-tuple-element(t), index=2
  v = f32[3] get-tuple-element(t), index=3
  y = f32[3] multiply(x, v)
  ROOT r = (s32[], f32[3], f32[3], f32[3]) tuple(next, w, y, v)
}
ENTRY e {
  w = f32[3] parameter(0)
  x = f32[3] parameter(1)
  zero = s32[] constant(0)
  c = f32[] constant(0.5)
  b = f32[3] broadcast(c), dimensions={}
  s = f32[3] sine(w)
  v = f32[3] add(s, b)
  t = (s32[], f32[3], f32[3], f32[3]) tuple(zero, w, x, v)
  l = (s32[], f32[3], f32[3], f32[3]) while(t), condition=condition, body=body
  ROOT y = f32[3] get-tuple-element(l), index=2
})");
}

TEST(WhileLoopInvariantCodeMotion, KeepsCheapOperations) {
  ExpectUnchanged(kName, Loop(R"(
  c = f32[] constant(0.5)
  b = f32[3] broadcast(c), dimensions={}
  v = f32[3] reverse(w), dimensions={0}
  z = f32[3] multiply(x, v)
  y = f32[3] add(z, b))"));
}

TEST(WhileLoopInvariantCodeMotion, KeepsEffects) {
  ExpectUnchanged(kName, Loop(R"(
  v = f32[3] custom-call(w), custom_call_target="effect"
  y = f32[3] multiply(x, v))"));
}

TEST(WhileLoopInvariantCodeMotion, KeepsLoopsThatSaySo) {
  ExpectUnchanged(
      kName,
      Loop(
          "v = f32[3] sine(w)\n  y = f32[3] multiply(x, v)",
          R"(, frontend_attributes={_xla_disable_loop_instr_hoisting="true"})"));
  // A value says nothing.
  const std::string moved = RunPass(
      kName,
      Loop("v = f32[3] sine(w)\n  y = f32[3] multiply(x, v)",
           R"(, frontend_attributes={a="_xla_disable_loop_instr_hoisting"})"));
  EXPECT_GT(moved.rfind(" sine("), moved.find("ENTRY")) << moved;
}

TEST(WhileLoopInvariantCodeMotion, KeepsLoopsThatRunOnce) {
  ExpectUnchanged(kName,
                  absl::StrReplaceAll(
                      Loop("v = f32[3] sine(w)\n  y = f32[3] multiply(x, v)"),
                      {{"constant(5)", "constant(1)"}}));
}

// The swap hands each on in the other's place.
TEST(WhileLoopInvariantCodeMotion, KeepsElementsThatChangePlaces) {
  ExpectUnchanged(kName, R"(
HloModule m
condition {
  t = (f32[3], f32[3]) parameter(0)
  a = f32[3] get-tuple-element(t), index=0
  s = f32[1] slice(a), slice={[0:1]}
  e = f32[] reshape(s)
  n = f32[] constant(0)
  ROOT r = pred[] compare(e, n), direction=LT
}
body {
  t = (f32[3], f32[3]) parameter(0)
  a = f32[3] get-tuple-element(t), index=0
  b = f32[3] get-tuple-element(t), index=1
  c = f32[3] abs(a)
  ROOT r = (f32[3], f32[3]) tuple(b, c)
}
ENTRY e {
  a = f32[3] parameter(0)
  b = f32[3] parameter(1)
  t = (f32[3], f32[3]) tuple(a, b)
  ROOT l = (f32[3], f32[3]) while(t), condition=condition, body=body
})");
}

// All of a chain moves; the loop is the root.
TEST(WhileLoopInvariantCodeMotion, KeepsTheShapeOfAResultUsedWhole) {
  ExpectRewrites(kName, R"(
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
  w = f32[3] get-tuple-element(t), index=1
  s = s32[3] convert(w)
  u = s32[1] slice(s), slice={[0:1]}
  d = s32[] reshape(u)
  m = s32[] abs(d)
  one = s32[] constant(1)
  k = s32[] maximum(m, one)
  next = s32[] add(i, k)
  ROOT r = (s32[], f32[3]) tuple(next, w)
}
ENTRY e {
  w = f32[3] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[3]) tuple(zero, w)
  ROOT l = (s32[], f32[3]) while(t), condition=condition, body=body
})",
                 R"(
HloModule m
condition {
  t = (s32[], f32[3], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(5)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], f32[3], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  w = f32[3] get-tuple-element(t), index=1
  k = s32[] get-tuple-element(t), index=2
  next = s32[] add(i, k)
  ROOT r = (s32[], f32[3], s32[]) tuple(next, w, k)
}
ENTRY e {
  w = f32[3] parameter(0)
  zero = s32[] constant(0)
  s = s32[3] convert(w)
  u = s32[1] slice(s), slice={[0:1]}
  d = s32[] reshape(u)
  m = s32[] abs(d)
  one = s32[] constant(1)
  k = s32[] maximum(m, one)
  t = (s32[], f32[3], s32[]) tuple(zero, w, k)
  l = (s32[], f32[3], s32[]) while(t), condition=condition, body=body
  a = s32[] get-tuple-element(l), index=0
  b = f32[3] get-tuple-element(l), index=1
  ROOT r = (s32[], f32[3]) tuple(a, b)
})");
}

// The second loop keeps calling the computations as they were.
TEST(WhileLoopInvariantCodeMotion, GivesEachLoopItsOwnBody) {
  const std::string text = absl::StrReplaceAll(
      Loop("v = f32[3] sine(w)\n  y = f32[3] multiply(x, v)"),
      {{"  ROOT y = f32[3] get-tuple-element(l), index=2",
        R"(
  y = f32[3] get-tuple-element(l), index=2
  u = (s32[], f32[3], f32[3]) tuple(zero, y, x)
  m = (s32[], f32[3], f32[3]) while(u), condition=condition, body=body
  ROOT z = f32[3] get-tuple-element(m), index=2)"}});
  Module module = ParseForTest(text);
  HONE_ASSERT_OK_AND_ASSIGN(const Pass* pass, FindPass(kName));
  HONE_ASSERT_OK_AND_ASSIGN(const bool changed, pass->Run(module));
  EXPECT_TRUE(changed);
  HONE_EXPECT_OK(VerifyModule(module)) << PrintModule(module);
  HONE_ASSERT_OK_AND_ASSIGN(const EquivalenceReport report,
                            CheckEquivalent(ParseForTest(text), module));
  EXPECT_TRUE(report.equal) << report.explanation;
  // Nothing is left to move in either.
  ExpectUnchanged(kName, PrintModule(module));
}

// A loop of which the inner one ends only for some of the arguments $END, or
// after $END iterations.
std::string Nested(absl::string_view inner, absl::string_view direction,
                   absl::string_view start) {
  return absl::StrReplaceAll(
      R"(
HloModule m
icond {
  t = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(4)
  ROOT r = pred[] compare(i, n), direction=$DIRECTION
}
ibody {
  t = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  three = s32[] constant(3)
  j = s32[] add(i, three)
  w = f32[3] get-tuple-element(t), index=1
  s = f32[3] sine(w)
  ROOT r = (s32[], f32[3]) tuple(j, s)
}
inner {
  w = f32[3] parameter(0)
  k = s32[] parameter(1)
  t = (s32[], f32[3]) tuple($START, w)
  l = (s32[], f32[3]) while(t), condition=icond, body=ibody
  ROOT e = f32[3] get-tuple-element(l), index=1
}
pair {
  t = (f32[3], s32[]) parameter(0)
  w = f32[3] get-tuple-element(t), index=0
  k = s32[] get-tuple-element(t), index=1
  ROOT e = f32[3] call(w, k), to_apply=inner
}
condition {
  t = (s32[], f32[3], f32[3], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] get-tuple-element(t), index=4
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], f32[3], f32[3], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  w = f32[3] get-tuple-element(t), index=1
  x = f32[3] get-tuple-element(t), index=2
  k = s32[] get-tuple-element(t), index=3
  n = s32[] get-tuple-element(t), index=4
  $INNER
  y = f32[3] add(x, e)
  ROOT r = (s32[], f32[3], f32[3], s32[], s32[]) tuple(next, w, y, k, n)
}
ENTRY e {
  w = f32[3] parameter(0)
  x = f32[3] parameter(1)
  k = s32[] parameter(2)
  n = s32[] parameter(3)
  zero = s32[] constant(0)
  t = (s32[], f32[3], f32[3], s32[], s32[]) tuple(zero, w, x, k, n)
  l = (s32[], f32[3], f32[3], s32[], s32[]) while(t), condition=condition, body=body
  ROOT y = f32[3] get-tuple-element(l), index=2
})",
      {{"$INNER", inner}, {"$DIRECTION", direction}, {"$START", start}});
}

constexpr char kWhile[] = R"(it = (s32[], f32[3]) tuple(k, w)
  il = (s32[], f32[3]) while(it), condition=icond, body=ibody
  e = f32[3] get-tuple-element(il), index=1)";
constexpr char kCall[] = "e = f32[3] call(w, k), to_apply=inner";
constexpr char kConditional[] = R"(c = (f32[3], s32[]) tuple(w, k)
  m = s32[] constant(0)
  p = pred[] compare(k, m), direction=GT
  e = f32[3] conditional(p, c, c), true_computation=pair, false_computation=pair)";

// n may be 0, and the inner loop endless.
TEST(WhileLoopInvariantCodeMotion, KeepsWhatMayNotEnd) {
  ExpectUnchanged(kName, Nested(kWhile, "NE", "k"));
  ExpectUnchanged(kName, Nested(kWhile, "LT", "k"));
  ExpectUnchanged(kName, Nested(kCall, "NE", "k"));
  // The predicate moves alone.
  const std::string result =
      RunPassOnly(kName, Nested(kConditional, "NE", "k"));
  EXPECT_LT(result.rfind(" conditional("), result.find("ENTRY")) << result;
  EXPECT_GT(result.rfind(" compare("), result.find("ENTRY")) << result;
}

TEST(WhileLoopInvariantCodeMotion, MovesLoopsWithAKnownTripCount) {
  const std::string text = absl::StrReplaceAll(
      Nested(kCall, "LT", "zero"),
      {{"  t = (s32[], f32[3]) tuple(zero, w)",
        "  zero = s32[] constant(0)\n  t = (s32[], f32[3]) tuple(zero, w)"}});
  const std::string result = RunPass(kName, text);
  EXPECT_GT(result.rfind(" call("), result.find("ENTRY")) << result;
}

TEST(WhileLoopInvariantCodeMotion, KeepsRandomNumbersAndCommunication) {
  for (const char* effect :
       {"v = f32[3] rng(a, b), distribution=rng_uniform",
        "v = f32[3] all-reduce(w), replica_groups={}, to_apply=sum",
        "k = token[] after-all()\n  f = (f32[3], token[]) infeed(k)\n"
        "  v = f32[3] get-tuple-element(f), index=0",
        "d = f32[3] custom-call(w), custom_call_target=\"effect\"\n"
        "  v = f32[3] sine(w), control-predecessors={d}"}) {
    std::string text = absl::StrReplaceAll(
        Loop(absl::StrCat("a = f32[] constant(0)\n  b = f32[] constant(1)\n  ",
                          effect, "\n  y = f32[3] multiply(x, v)")),
        {{"condition {\n",
          "sum {\n  p = f32[] parameter(0)\n"
          "  q = f32[] parameter(1)\n"
          "  ROOT s = f32[] add(p, q)\n}\ncondition {\n"}});
    ExpectUnchanged(kName, text);
  }
}

TEST(WhileLoopInvariantCodeMotion, IgnoresDeadInstructions) {
  const std::string text =
      Loop("v = f32[3] sine(w)\n  y = f32[3] multiply(x, x)");
  EXPECT_EQ(RunPass(kName, text).find("sine"), std::string::npos);
}

}  // namespace
}  // namespace hone::hlo
