#include <string>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

constexpr char kBranches[] = R"(
HloModule m
double {
  a = f32[] parameter(0)
  ROOT r = f32[] add(a, a)
}
halve {
  a = f32[] parameter(0)
  h = f32[] constant(0.5)
  ROOT r = f32[] multiply(a, h)
})";

// A map that applies f, with the body `f`, to each negative element of type
// `type` and keeps the others.
std::string MapOfConditional(absl::string_view type, absl::string_view f) {
  return absl::StrReplaceAll(R"(
HloModule m
f {
  a = $T[] parameter(0)
  $F
}
g {
  ROOT a = $T[] parameter(0)
}
h {
  a = $T[] parameter(0)
  zero = $T[] constant(0)
  p = pred[] compare(a, zero), direction=LT
  ROOT r = $T[] conditional(p, a, a), true_computation=f, false_computation=g
}
ENTRY e {
  x = $T[4] parameter(0)
  ROOT r = $T[4] map(x), dimensions={0}, to_apply=h
})",
                             {{"$T", type}, {"$F", f}});
}

TEST(ConditionalToSelect, ComputesBothBranchesInsideAMap) {
  ExpectRewrites("conditional-to-select", std::string(kBranches) + R"(
f {
  a = f32[] parameter(0)
  zero = f32[] constant(0)
  p = pred[] compare(a, zero), direction=LT
  ROOT r = f32[] conditional(p, a, a), true_computation=double, false_computation=halve
}
ENTRY e {
  x = f32[4] parameter(0)
  ROOT r = f32[4] map(x), dimensions={0}, to_apply=f
})",
                 R"(
HloModule m
f {
  a = f32[] parameter(0)
  zero = f32[] constant(0)
  p = pred[] compare(a, zero), direction=LT
  d = f32[] add(a, a)
  h = f32[] constant(0.5)
  m = f32[] multiply(a, h)
  ROOT r = f32[] select(p, d, m)
}
ENTRY e {
  x = f32[4] parameter(0)
  ROOT r = f32[4] map(x), dimensions={0}, to_apply=f
})");
}

TEST(ConditionalToSelect, KeepsConditionalsOfTheControlFlow) {
  ExpectUnchanged("conditional-to-select", std::string(kBranches) + R"(
ENTRY e {
  p = pred[] parameter(0)
  x = f32[] parameter(1)
  ROOT r = f32[] conditional(p, x, x), true_computation=double, false_computation=halve
})");
}

// The function is applied by the map and called as well.
TEST(ConditionalToSelect, KeepsConditionalsOfBoth) {
  ExpectUnchanged("conditional-to-select", std::string(kBranches) + R"(
f {
  a = f32[] parameter(0)
  zero = f32[] constant(0)
  p = pred[] compare(a, zero), direction=LT
  ROOT r = f32[] conditional(p, a, a), true_computation=double, false_computation=halve
}
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[] parameter(1)
  m = f32[4] map(x), dimensions={0}, to_apply=f
  c = f32[] call(y), to_apply=f
  ROOT r = (f32[4], f32[]) tuple(m, c)
})");
}

TEST(ConditionalToSelect, KeepsBranchesThatMightNotEnd) {
  ExpectUnchanged("conditional-to-select", R"(
HloModule m
condition {
  a = f32[] parameter(0)
  n = f32[] constant(10)
  ROOT r = pred[] compare(a, n), direction=NE
}
body {
  a = f32[] parameter(0)
  one = f32[] constant(1)
  ROOT r = f32[] add(a, one)
}
loop {
  a = f32[] parameter(0)
  ROOT r = f32[] while(a), condition=condition, body=body
}
same {
  ROOT a = f32[] parameter(0)
}
f {
  a = f32[] parameter(0)
  ten = f32[] constant(10)
  p = pred[] compare(a, ten), direction=EQ
  ROOT r = f32[] conditional(p, a, a), true_computation=loop, false_computation=same
}
ENTRY e {
  x = f32[4] parameter(0)
  ROOT r = f32[4] map(x), dimensions={0}, to_apply=f
})");
}

TEST(ConditionalToSelect, KeepsEffectsAndTuples) {
  for (const char* f :
       {"ROOT r = f32[] custom-call(a), custom_call_target=\"effect\"",
        "c = f32[] custom-call(a), custom_call_target=\"effect\"\n"
        "  ROOT r = f32[] negate(a)"}) {
    ExpectUnchanged("conditional-to-select", MapOfConditional("f32", f));
  }
}

// The second branch is the parameter, and both wait for nothing.
TEST(ConditionalToSelect, SelectsAnArgument) {
  ExpectRewrites("conditional-to-select",
                 MapOfConditional("s8", "ROOT r = s8[] negate(a)"),
                 R"(
HloModule m
h {
  a = s8[] parameter(0)
  zero = s8[] constant(0)
  p = pred[] compare(a, zero), direction=LT
  n = s8[] negate(a)
  ROOT r = s8[] select(p, n, a)
}
ENTRY e {
  x = s8[4] parameter(0)
  ROOT r = s8[4] map(x), dimensions={0}, to_apply=h
})");
}

}  // namespace
}  // namespace hone::hlo
