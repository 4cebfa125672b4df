#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

TEST(ConstantFolding, FoldsChainsInOneRun) {
  ExpectRewrites("constant_folding", R"(
HloModule m
ENTRY e {
  p = s32[3] parameter(0)
  a = s32[3] constant({1, 2, 3})
  b = s32[3] constant({4, 5, 6})
  c = s32[3] add(a, b)
  d = s32[3] negate(c)
  ROOT r = s32[3] multiply(p, d)
})",
                 R"(
HloModule m
ENTRY e {
  p = s32[3] parameter(0)
  d = s32[3] constant({-5, -7, -9})
  ROOT r = s32[3] multiply(p, d)
})");
}

TEST(ConstantFolding, FoldsInsideRegionsAndKeepsSharedOperands) {
  ExpectRewrites("constant_folding", R"(
HloModule m
f {
  a = f32[] parameter(0)
  two = f32[] constant(2)
  four = f32[] multiply(two, two)
  x = f32[] add(a, four)
  ROOT r = f32[] divide(x, two)
}
ENTRY e {
  p = f32[] parameter(0)
  ROOT r = f32[] call(p), to_apply=f
})",
                 R"(
HloModule m
f {
  a = f32[] parameter(0)
  two = f32[] constant(2)
  four = f32[] constant(4)
  x = f32[] add(a, four)
  ROOT r = f32[] divide(x, two)
}
ENTRY e {
  p = f32[] parameter(0)
  ROOT r = f32[] call(p), to_apply=f
})");
}

TEST(ConstantFolding, FoldsIotasAndBroadcastsBelowAnInstruction) {
  ExpectRewrites("constant_folding", R"(
HloModule m
ENTRY e {
  i = s32[4] iota(), iota_dimension=0
  two = s32[] constant(2)
  b = s32[4] broadcast(two), dimensions={}
  ROOT r = pred[4] compare(i, b), direction=LT
})",
                 R"(
HloModule m
ENTRY e {
  ROOT r = pred[4] constant({1, 1, 0, 0})
})");
}

TEST(ConstantFolding, FoldsRegionsAppliedPerElement) {
  ExpectRewrites("constant_folding", R"(
HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  p = f32[] parameter(0)
  c = f32[2,2] constant({{1, 2}, {3, 4}})
  z = f32[] constant(0)
  s = f32[] reduce(c, z), dimensions={0,1}, to_apply=sum
  ROOT r = f32[] add(p, s)
})",
                 R"(
HloModule m
ENTRY e {
  p = f32[] parameter(0)
  s = f32[] constant(10)
  ROOT r = f32[] add(p, s)
}
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
})");
}

TEST(ConstantFolding, DoesNotGrowConstants) {
  ExpectUnchanged("constant_folding", R"(
HloModule m
ENTRY e {
  c = f32[] constant(1)
  small = f32[4] broadcast(c), dimensions={}
  i = s32[100] iota(), iota_dimension=0
  big = s32[4000] iota(), iota_dimension=0
  grown = s32[4000] negate(big)
  padded = f32[4000] pad(small, c), padding=0_3996
  ROOT t = (f32[4], s32[100], s32[4000], f32[4000]) tuple(small, i, grown, padded)
})");
}

TEST(ConstantFolding, KeepsWhatItMustNotEvaluate) {
  ExpectUnchanged("constant_folding", R"(
HloModule m
f {
  a = f32[] parameter(0)
  ROOT r = f32[] negate(a)
}
ENTRY e {
  c = f32[] constant(1)
  elided = f32[100] constant({...})
  a = f32[100] negate(elided)
  b = f32[] call(c), to_apply=f
  d = f32[4] rng(c, c), distribution=rng_uniform
  x = f32[] custom-call(c), custom_call_target="effect"
  n = f32[] negate(c), control-predecessors={x}
  ROOT t = (f32[100], f32[], f32[4], f32[], f32[]) tuple(a, b, d, x, n)
})");
}

// The loop in the region would not end.
TEST(ConstantFolding, KeepsRegionsThatLoop) {
  ExpectUnchanged("constant_folding", R"(
HloModule m
forever {
  t = f32[] parameter(0)
  ROOT r = pred[] constant(true)
}
same {
  t = f32[] parameter(0)
  ROOT r = f32[] negate(t)
}
loop {
  a = f32[] parameter(0)
  ROOT r = f32[] while(a), condition=forever, body=same
}
ENTRY e {
  c = f32[2] constant({1, 2})
  ROOT r = f32[2] map(c), dimensions={0}, to_apply=loop
})");
}

TEST(ConstantFolding, KeepsWindowsThatTakeLong) {
  ExpectUnchanged("constant_folding", R"(
HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  c = f32[2] constant({1, 2})
  z = f32[] constant(0)
  ROOT r = f32[2] reduce-window(c, z), window={size=2000000001 pad=1000000000_1000000000}, to_apply=sum
})");
}

// Of a million elements, each would go through thousands of instructions.
TEST(ConstantFolding, KeepsLongRegions) {
  const auto text = [](int instructions, int elements) {
    std::string region = "t0 = s32[] add(a, b)\n";
    for (int i = 1; i < instructions; ++i) {
      absl::StrAppend(&region, i + 1 == instructions ? "ROOT " : "", "t", i,
                      " = s32[] xor(t", i - 1, ", a)\n");
    }
    return absl::StrCat(
        "HloModule m\ns {\na = s32[] parameter(0)\nb = s32[] parameter(1)\n",
        region, "}\nENTRY e {\nc = s32[", elements,
        "] iota(), iota_dimension=0\nz = s32[] constant(0)\n"
        "ROOT r = s32[] reduce(c, z), dimensions={0}, to_apply=s\n}\n");
  };
  ExpectUnchanged("constant_folding", text(4'000, 1'000'000));
  const Module folded =
      ExpectKeepsMeaning("constant_folding", text(4'000, 1'000));
  EXPECT_EQ(folded.entry_computation().live_count(), 1);
}

TEST(ConstantFolding, LeavesWhatTargetsRoundWhenExact) {
  constexpr char kBody[] = R"(
HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  c = f32[2] constant({1, 2})
  d = f32[2] $OPCODE(c)
  ROOT r = f32[2] add(x, d)
})";
  const std::string exp =
      absl::StrReplaceAll(kBody, {{"$OPCODE", "exponential"}});
  ExpectUnchanged("constant_folding", exp, {.numerics = Numerics::kExact});
  ExpectKeepsMeaning("constant_folding", exp);
  ExpectKeepsMeaning("constant_folding",
                     absl::StrReplaceAll(kBody, {{"$OPCODE", "negate"}}),
                     {.numerics = Numerics::kExact});
  // A hypotenuse, and a product with a reciprocal root.
  for (const char* text : {R"(
HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  c = c64[2] constant({(3, 4), (0.001, 2.9)})
  d = f32[2] abs(c)
  ROOT r = f32[2] add(x, d)
})",
                           R"(
HloModule m
ENTRY e {
  x = f32[2,1] parameter(0)
  c = f32[2,1] constant({{1}, {2}})
  s = f32[1] constant({3})
  d = f32[2,1] batch-norm-inference(c, s, s, s, s), epsilon=0.001, feature_index=1
  ROOT r = f32[2,1] add(x, d)
})"}) {
    ExpectUnchanged("constant_folding", text, {.numerics = Numerics::kExact});
    ExpectKeepsMeaning("constant_folding", text);
  }
}

TEST(ConstantFolding, CarriesAttributes) {
  ExpectRewrites("constant_folding", R"(
HloModule m
ENTRY e {
  c = u8[2] constant({1, 2})
  ROOT r = u8[2] add(c, c), sharding={replicated}, frontend_attributes={a="1"}
})",
                 R"(
HloModule m
ENTRY e {
  ROOT r = u8[2] constant({2, 4}), sharding={replicated}, frontend_attributes={a="1"}
})");
  ExpectUnchanged("constant_folding", R"(
HloModule m
ENTRY e {
  c = u8[2] constant({1, 2})
  ROOT r = u8[2] add(c, c), unknown_attribute=7
})");
}

TEST(ConstantFolding, KeepsBarriersAndDynamicShapes) {
  ExpectUnchanged("constant_folding", R"(
HloModule m
ENTRY e {
  c = s32[4] constant({1, 2, 3, 4})
  n = s32[] constant(2)
  b = s32[4] opt-barrier(c)
  d = s32[<=4] set-dimension-size(c, n), dimensions={0}
  ROOT t = (s32[4], s32[<=4]) tuple(b, d)
})");
}

}  // namespace
}  // namespace hone::hlo
