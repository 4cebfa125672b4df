#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/loops/lowering/lowered.h"
#include "tests/loops/lowering/schedules_right.h"

namespace hone::loops {
namespace {

TEST(LowerSort, AnySizeStably) {
  for (int n : {1, 2, 3, 4, 5, 7, 8, 13, 16, 31, 33, 64, 65, 300}) {
    SCOPED_TRACE(n);
    // Keys below 8 repeat, so their second operands show the order.
    ExpectLowersRight(absl::StrReplaceAll(ModuleText(R"(
  k = s32[2,SIZE,3] parameter(0)
  i = s32[2,SIZE,3] iota(), iota_dimension=1
  f = f32[SIZE] parameter(1)
  s = (s32[2,SIZE,3], s32[2,SIZE,3]) sort(k, i), dimensions={1}, is_stable=true, to_apply=less
  a = s32[2,SIZE,3] get-tuple-element(s), index=0
  b = s32[2,SIZE,3] get-tuple-element(s), index=1
  c = f32[SIZE] sort(f), dimensions={0}, to_apply=greater
  ROOT t = (s32[2,SIZE,3], s32[2,SIZE,3], f32[SIZE]) tuple(a, b, c))",
                                                     R"(
less {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT c = pred[] compare(a, b), direction=LT
}
greater {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=GT, type=TOTALORDER
})"),
                                          {{"SIZE", absl::StrCat(n)}}));
  }
}

// The comparator of jnp.sort: zeros are equal, and so are all NaN.
constexpr char kJaxOrder[] = R"(
less {
  a = TYPE[] parameter(0)
  b = TYPE[] parameter(1)
  nan = TYPE[] constant(nan)
  zero = TYPE[] constant(0)
  a_nan = pred[] compare(a, a), direction=NE
  a_zero = pred[] compare(a, zero), direction=EQ
  az = TYPE[] select(a_zero, zero, a)
  ka = TYPE[] select(a_nan, nan, az)
  b_nan = pred[] compare(b, b), direction=NE
  b_zero = pred[] compare(b, zero), direction=EQ
  bz = TYPE[] select(b_zero, zero, b)
  kb = TYPE[] select(b_nan, nan, bz)
  ROOT c = pred[] compare(PAIR), direction=LT, type=TOTALORDER
})";

TEST(LowerSort, KeysOfEveryType) {
  for (const int n : {9, 100}) {
    for (const char* order : {"ka, kb", "kb, ka"}) {
      for (const char* type : {"f32", "f64", "bf16", "f16"}) {
        SCOPED_TRACE(absl::StrCat(type, " ", n, " ", order));
        ExpectLowersRight(absl::StrReplaceAll(
            ModuleText(R"(
  x = TYPE[3,SIZE] parameter(0)
  ROOT s = TYPE[3,SIZE] sort(x), dimensions={1}, is_stable=true, to_apply=less)",
                       kJaxOrder),
            {{"TYPE", type}, {"PAIR", order}, {"SIZE", absl::StrCat(n)}}));
      }
    }
    for (const char* direction : {"LT", "GT"}) {
      for (const char* type :
           {"s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "pred"}) {
        SCOPED_TRACE(absl::StrCat(type, " ", n, " ", direction));
        ExpectLowersRight(absl::StrReplaceAll(ModuleText(R"(
  x = TYPE[SIZE] parameter(0)
  i = s32[SIZE] iota(), iota_dimension=0
  ROOT s = (TYPE[SIZE], s32[SIZE]) sort(x, i), dimensions={0}, is_stable=true, to_apply=order)",
                                                         R"(
order {
  a = TYPE[] parameter(0)
  b = TYPE[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT c = pred[] compare(a, b), direction=DIRECTION
})"),
                                              {{"TYPE", type},
                                               {"DIRECTION", direction},
                                               {"SIZE", absl::StrCat(n)}}));
      }
    }
  }
}

// By two keys, and by a key of the second operand.
TEST(LowerSort, OtherComparators) {
  for (const int n : {2, 40, 65, 128, 200}) {
    SCOPED_TRACE(n);
    ExpectSchedulesRight(
        ExpectLowersRight(absl::StrReplaceAll(ModuleText(R"(
  x = s32[2,SIZE] parameter(0)
  y = u8[2,SIZE] parameter(1)
  i = s32[2,SIZE] iota(), iota_dimension=1
  four = s32[] constant(4)
  fours = s32[2,SIZE] broadcast(four), dimensions={}
  r = s32[2,SIZE] remainder(x, fours)
  s = (s32[2,SIZE], u8[2,SIZE], s32[2,SIZE]) sort(r, y, i), dimensions={1}, is_stable=true, to_apply=both
  t = (s32[2,SIZE], u8[2,SIZE], s32[2,SIZE]) sort(r, y, i), dimensions={1}, is_stable=true, to_apply=second
  ROOT p = ((s32[2,SIZE], u8[2,SIZE], s32[2,SIZE]), (s32[2,SIZE], u8[2,SIZE], s32[2,SIZE])) tuple(s, t))",
                                                         R"(
both {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = u8[] parameter(2)
  d = u8[] parameter(3)
  i = s32[] parameter(4)
  j = s32[] parameter(5)
  less = pred[] compare(a, b), direction=LT
  equal = pred[] compare(a, b), direction=EQ
  second = pred[] compare(c, d), direction=GT
  tie = pred[] and(equal, second)
  ROOT o = pred[] or(less, tie)
}
second {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = u8[] parameter(2)
  d = u8[] parameter(3)
  i = s32[] parameter(4)
  j = s32[] parameter(5)
  e = s32[] convert(c)
  f = s32[] convert(d)
  two = s32[] constant(2)
  g = s32[] divide(e, two)
  h = s32[] divide(f, two)
  ROOT o = pred[] compare(h, g), direction=GT
})"),
                                              {{"SIZE", absl::StrCat(n)}})));
  }
}

// Constants make no order, so nothing moves.
TEST(LowerSort, ByNothing) {
  ExpectLowersRight(ModuleText(R"(
  x = s32[100] parameter(0)
  ROOT s = s32[100] sort(x), dimensions={0}, is_stable=true, to_apply=none)",
                               R"(
none {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  one = s32[] constant(1)
  two = s32[] constant(2)
  ROOT c = pred[] compare(two, one), direction=LT
})"));
}

TEST(LowerSort, SchedulesKeepTheOrder) {
  for (const int n : {1, 64, 200}) {
    ExpectSchedulesRight(ExpectLowersRight(absl::StrReplaceAll(
        ModuleText(R"(
  x = f32[SIZE,5] parameter(0)
  y = f32[SIZE,5] multiply(x, x)
  ROOT s = f32[SIZE,5] sort(y), dimensions={0}, is_stable=true, to_apply=less)",
                   kJaxOrder),
        {{"TYPE", "f32"}, {"PAIR", "ka, kb"}, {"SIZE", absl::StrCat(n)}})));
  }
}

}  // namespace
}  // namespace hone::loops
