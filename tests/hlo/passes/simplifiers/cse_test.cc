#include <string>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

TEST(Cse, MergesChainsInOneRun) {
  ExpectRewrites("cse", R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  a.1 = f32[4] negate(p)
  a.2 = f32[4] negate(p)
  b.1 = f32[4] exponential(a.1)
  b.2 = f32[4] exponential(a.2)
  ROOT r = f32[4] subtract(b.1, b.2)
})",
                 R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] negate(p)
  b = f32[4] exponential(a)
  ROOT r = f32[4] subtract(b, b)
})");
}

TEST(Cse, IgnoresOperandOrderOfCommutativeOpcodesOnly) {
  ExpectRewrites("cse", R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  a = f32[4] add(p, q)
  b = f32[4] add(q, p)
  c = f32[4] subtract(p, q)
  d = f32[4] subtract(q, p)
  ROOT t = (f32[4], f32[4], f32[4], f32[4]) tuple(a, b, c, d)
})",
                 R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  a = f32[4] add(p, q)
  c = f32[4] subtract(p, q)
  d = f32[4] subtract(q, p)
  ROOT t = (f32[4], f32[4], f32[4], f32[4]) tuple(a, a, c, d)
})");
}

TEST(Cse, MergesEqualConstantsByValueAndType) {
  ExpectRewrites("cse", R"(
HloModule m
ENTRY e {
  a = f32[2] constant({1, 2})
  b = f32[2] constant({1, 2})
  c = f32[2] constant({1, 3})
  d = s32[2] constant({1, 2})
  z = f32[] constant(0)
  n = f32[] constant(-0)
  ROOT t = (f32[2], f32[2], f32[2], s32[2], f32[], f32[]) tuple(a, b, c, d, z, n)
})",
                 R"(
HloModule m
ENTRY e {
  a = f32[2] constant({1, 2})
  c = f32[2] constant({1, 3})
  d = s32[2] constant({1, 2})
  z = f32[] constant(0)
  n = f32[] constant(-0)
  ROOT t = (f32[2], f32[2], f32[2], s32[2], f32[], f32[]) tuple(a, a, c, d, z, n)
})");
}

TEST(Cse, KeepsElidedConstantsApart) {
  ExpectUnchanged("cse", R"(
HloModule m
ENTRY e {
  a = f32[100] constant({...})
  b = f32[100] constant({...})
  ROOT r = f32[100] add(a, b)
})");
}

TEST(Cse, ComparesAttributesAndShapes) {
  ExpectUnchanged("cse", R"(
HloModule m
ENTRY e {
  p = f32[4,4] parameter(0)
  i.0 = s32[4,4] iota(), iota_dimension=0
  i.1 = s32[4,4] iota(), iota_dimension=1
  s.0 = f32[2,4] slice(p), slice={[0:2], [0:4]}
  s.1 = f32[2,4] slice(p), slice={[2:4], [0:4]}
  t.0 = f32[4,4] transpose(p), dimensions={0,1}
  t.1 = f32[4,4] transpose(p), dimensions={1,0}
  c.0 = pred[4,4] compare(p, t.1), direction=LT
  c.1 = pred[4,4] compare(p, t.1), direction=GT
  v.0 = f16[4,4] convert(p)
  v.1 = bf16[4,4] convert(p)
  n.0 = f32[4,4] negate(p), sharding={replicated}
  n.1 = f32[4,4] negate(p)
  ROOT r = (s32[4,4], s32[4,4], f32[2,4], f32[2,4], f32[4,4], pred[4,4], pred[4,4], f16[4,4], bf16[4,4], f32[4,4], f32[4,4]) tuple(i.0, i.1, s.0, s.1, t.0, c.0, c.1, v.0, v.1, n.0, n.1)
})");
}

constexpr char kReduces[] = R"(
HloModule m
add.1 {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
other {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] $OPCODE(x, y)
}
ENTRY e {
  p = f32[4,4] parameter(0)
  zero = f32[] constant(0)
  s.1 = f32[4] reduce(p, zero), dimensions={1}, to_apply=add.1
  s.2 = f32[4] reduce(p, zero), dimensions={1}, to_apply=other
  ROOT r = f32[4] multiply(s.1, s.2)
})";

std::string Reduces(absl::string_view opcode) {
  return absl::StrReplaceAll(kReduces, {{"$OPCODE", opcode}});
}

TEST(Cse, ComparesCalledComputationsByContent) {
  ExpectRewrites("cse", Reduces("add"), R"(
HloModule m
add.1 {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
other {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
ENTRY e {
  p = f32[4,4] parameter(0)
  zero = f32[] constant(0)
  s.1 = f32[4] reduce(p, zero), dimensions={1}, to_apply=add.1
  ROOT r = f32[4] multiply(s.1, s.1)
})");
  ExpectUnchanged("cse", Reduces("maximum"));
}

TEST(Cse, KeepsOpaqueInstructionsAndTheirCallers) {
  ExpectUnchanged("cse", R"(
HloModule m
f {
  a = f32[4] parameter(0)
  ROOT r = f32[4] custom-call(a), custom_call_target="effect"
}
ENTRY e {
  p = f32[4] parameter(0)
  lo = f32[] constant(0)
  hi = f32[] constant(1)
  a = f32[4] rng(lo, hi), distribution=rng_uniform
  b = f32[4] rng(lo, hi), distribution=rng_uniform
  c = f32[4] call(p), to_apply=f
  d = f32[4] call(p), to_apply=f
  ROOT t = (f32[4], f32[4], f32[4], f32[4]) tuple(a, b, c, d)
})");
}

TEST(Cse, KeepsEndsOfControlDependencies) {
  ExpectUnchanged("cse", R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] negate(p)
  b = f32[4] negate(p), control-predecessors={a}
  ROOT r = f32[4] add(a, b)
})");
}

TEST(Cse, IgnoresLayoutUnlessABitcastReadsIt) {
  ExpectRewrites("cse", R"(
HloModule m
ENTRY e {
  p = f32[2,3] parameter(0)
  a = f32[2,3]{1,0} negate(p)
  b = f32[2,3]{0,1} negate(p)
  ROOT r = f32[2,3] add(a, b)
})",
                 R"(
HloModule m
ENTRY e {
  p = f32[2,3] parameter(0)
  a = f32[2,3]{1,0} negate(p)
  ROOT r = f32[2,3] add(a, a)
})");
  ExpectUnchanged("cse", R"(
HloModule m
ENTRY e {
  p = f32[2,3] parameter(0)
  a = f32[2,3]{1,0} negate(p)
  b = f32[2,3]{0,1} negate(p)
  c = f32[3,2]{1,0} bitcast(b)
  ROOT t = (f32[2,3], f32[3,2]) tuple(a, c)
})");
}

TEST(Cse, LeavesScheduledModulesAlone) {
  ExpectUnchanged("cse", R"(
HloModule m, is_scheduled=true
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] copy(p)
  b = f32[4] copy(p)
  ROOT t = (f32[4], f32[4]) tuple(a, b)
})");
}

TEST(Cse, ComparesPlacement) {
  ExpectUnchanged("cse", R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] negate(p), sharding={replicated}
  b = f32[4] negate(p), sharding={maximal device=1}
  c = f32[4] negate(p), frontend_attributes={stream="1"}
  d = f32[4] negate(p), frontend_attributes={stream="2"}
  ROOT t = (f32[4], f32[4], f32[4], f32[4]) tuple(a, b, c, d)
})");
  ExpectRewrites("cse", R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] negate(p), sharding={replicated}, frontend_attributes={stream="1"}, unknown={7}
  b = f32[4] negate(p), sharding={replicated}, frontend_attributes={stream="1"}, unknown={7}
  ROOT t = (f32[4], f32[4]) tuple(a, b)
})",
                 R"(
HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] negate(p), sharding={replicated}, frontend_attributes={stream="1"}, unknown={7}
  ROOT t = (f32[4], f32[4]) tuple(a, a)
})");
}

TEST(Cse, MergesNansAndDynamicShapes) {
  ExpectRewrites("cse", R"(
HloModule m
ENTRY e {
  p = f32[<=4] parameter(0)
  a = f32[<=4] negate(p)
  b = f32[<=4] negate(p)
  n = f32[] constant(nan)
  m = f32[] constant(nan)
  ROOT t = (f32[<=4], f32[<=4], f32[], f32[]) tuple(a, b, n, m)
})",
                 R"(
HloModule m
ENTRY e {
  p = f32[<=4] parameter(0)
  a = f32[<=4] negate(p)
  n = f32[] constant(nan)
  ROOT t = (f32[<=4], f32[<=4], f32[], f32[]) tuple(a, a, n, n)
})");
}

}  // namespace
}  // namespace hone::hlo
