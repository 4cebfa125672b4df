#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "hlo/rewrite/carried_attributes.h"
#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

constexpr char kPass[] = "topk-decomposer";

TEST(TopkDecomposer, SortsInTotalOrder) {
  ExpectRewrites(kPass, R"(
HloModule m
ENTRY e {
  a = f32[2,8] parameter(0)
  t = (f32[2,3], s32[2,3]) topk(a), k=3, largest=true
  v = f32[2,3] get-tuple-element(t), index=0
  ROOT n = f32[2,3] negate(v)
})",
                 R"(
HloModule m
greater {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT c = pred[] compare(x, y), direction=GT, type=TOTALORDER
}
ENTRY e {
  a = f32[2,8] parameter(0)
  i = s32[2,8] iota(), iota_dimension=1
  s = (f32[2,8], s32[2,8]) sort(a, i), dimensions={1}, is_stable=true, to_apply=greater
  sv = f32[2,8] get-tuple-element(s), index=0
  v = f32[2,3] slice(sv), slice={[0:2], [0:3]}
  ROOT n = f32[2,3] negate(v)
})");
}

TEST(TopkDecomposer, KeepsTheTupleForOtherUsers) {
  ExpectRewrites(kPass, R"(
HloModule m
ENTRY e {
  a = s32[8] parameter(0)
  ROOT t = (s32[3], s32[3]) topk(a), k=3, largest=false
})",
                 R"(
HloModule m
less {
  x = s32[] parameter(0)
  y = s32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT c = pred[] compare(x, y), direction=LT
}
ENTRY e {
  a = s32[8] parameter(0)
  i = s32[8] iota(), iota_dimension=0
  s = (s32[8], s32[8]) sort(a, i), dimensions={0}, is_stable=true, to_apply=less
  sv = s32[8] get-tuple-element(s), index=0
  sp = s32[8] get-tuple-element(s), index=1
  v = s32[3] slice(sv), slice={[0:3]}
  p = s32[3] slice(sp), slice={[0:3]}
  ROOT t = (s32[3], s32[3]) tuple(v, p)
})");
}

TEST(TopkDecomposer, KeepsTheOrderOfTiesAndNans) {
  for (const char* type : {"f32", "bf16", "f64", "f8e5m2"}) {
    for (const char* largest : {"true", "false"}) {
      for (const char* k : {"0", "3", "8"}) {
        SCOPED_TRACE(absl::StrCat(type, " ", largest, " ", k));
        ExpectKeepsMeaning(kPass,
                           Entry(absl::StrReplaceAll(
                               R"(
  a = $T[8] constant({0, -0, nan, 1, -nan, 1, inf, -inf})
  ROOT t = ($T[$K], s32[$K]) topk(a), k=$K, largest=$L)",
                               {{"$T", type}, {"$L", largest}, {"$K", k}})));
      }
    }
  }
}

TEST(TopkDecomposer, ComparesIntegersBySign) {
  for (const char* type : {"u8", "s8", "u32", "u64", "s64"}) {
    SCOPED_TRACE(type);
    ExpectKeepsMeaning(kPass, Entry(absl::StrReplaceAll(
                                  R"(
  a = $T[2,4] parameter(0)
  one = $T[] constant(1)
  ones = $T[2,4] broadcast(one), dimensions={}
  b = $T[2,4] subtract(a, ones)
  ROOT t = ($T[2,2], s32[2,2]) topk(b), k=2, largest=true)",
                                  {{"$T", type}})));
  }
}

TEST(TopkDecomposer, CarriesTheShardingOfTheTuple) {
  const Module module = ExpectKeepsMeaning(kPass, Entry(R"(
  a = f32[2,8] parameter(0)
  t = (f32[2,3], s32[2,3]) topk(a), k=3, largest=true, sharding={{devices=[2,1]0,1}, {devices=[2,1]0,1}}
  v = f32[2,3] get-tuple-element(t), index=0
  ROOT n = f32[2,3] negate(v))"));
  bool found = false;
  for (const Instruction& i : module.entry_computation().instructions()) {
    found |= FindAttribute(i, "sharding") != nullptr;
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace hone::hlo
