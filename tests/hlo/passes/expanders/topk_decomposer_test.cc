#include "gtest/gtest.h"

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

}  // namespace
}  // namespace hone::hlo
