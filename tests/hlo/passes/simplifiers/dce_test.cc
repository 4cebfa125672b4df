#include <string>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

TEST(Dce, RemovesChainsThatDoNotReachTheRoot) {
  ExpectRewrites("dce", R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  dead.1 = f32[4] negate(p)
  dead.2 = f32[4] add(dead.1, dead.1)
  dead.3 = f32[4] multiply(dead.2, p)
  ROOT r = f32[4] abs(p)
})",
                 R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  ROOT r = f32[4] abs(p)
})");
}

TEST(Dce, KeepsParametersOfEveryComputation) {
  ExpectUnchanged("dce", R"(
HloModule m
f {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  ROOT r = f32[4] negate(a)
}
ENTRY e {
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  ROOT r = f32[4] call(p, p), to_apply=f
})");
}

TEST(Dce, RemovesUnreachedComputations) {
  ExpectRewrites("dce", R"(
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
  ROOT r = f32[4] abs(p)
})",
                 R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  ROOT r = f32[4] abs(p)
})");
}

constexpr char kDeadWhile[] = R"(
HloModule m
condition {
  t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[4] get-tuple-element(t), index=1
  y = f32[4] $OPERATION
  ROOT r = (s32[], f32[4]) tuple(next, y)
}
ENTRY e {
  p = f32[4] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[4]) tuple(zero, p)
  w = (s32[], f32[4]) while(t), condition=condition, body=body
  ROOT r = f32[4] abs(p)
})";

std::string DeadWhile(absl::string_view operation) {
  return absl::StrReplaceAll(kDeadWhile, {{"$OPERATION", operation}});
}

TEST(Dce, RemovesPureControlFlowWithItsComputations) {
  ExpectRewrites("dce", DeadWhile("negate(x)"), R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  ROOT r = f32[4] abs(p)
})");
}

TEST(Dce, KeepsControlFlowWithEffects) {
  ExpectUnchanged("dce",
                  DeadWhile("custom-call(x), custom_call_target=\"effect\""));
}

TEST(Dce, KeepsOpaqueInstructions) {
  ExpectUnchanged("dce", R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  n = f32[4] negate(p)
  c = f32[4] custom-call(n), custom_call_target="effect"
  u = f32[4] some-future-opcode(p)
  ROOT r = f32[4] abs(p)
})");
}

TEST(Dce, KeepsControlPredecessors) {
  ExpectUnchanged("dce", R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  n = f32[4] negate(p)
  ROOT r = f32[4] abs(p), control-predecessors={n}
})");
}

TEST(Dce, WorksOnScheduledModules) {
  ExpectRewrites("dce", R"(
HloModule m, is_scheduled=true
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] exponential(p)
  dead = f32[4] negate(p)
  b = f32[4] sine(p)
  ROOT r = f32[4] add(a, b)
})",
                 R"(
HloModule m, is_scheduled=true
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] exponential(p)
  b = f32[4] sine(p)
  ROOT r = f32[4] add(a, b)
})");
}

}  // namespace
}  // namespace hone::hlo
