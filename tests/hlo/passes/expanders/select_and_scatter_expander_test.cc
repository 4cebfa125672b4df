#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "hlo/rewrite/carried_attributes.h"
#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

std::string Pooling(absl::string_view source, absl::string_view window) {
  return absl::StrReplaceAll(R"(
HloModule m
ge {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GE
}
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  x = f32[4,6] parameter(0)
  s = f32[$SOURCE] parameter(1)
  zero = f32[] constant(0)
  ROOT r = f32[4,6] select-and-scatter(x, s, zero), window={$WINDOW}, select=ge, scatter=sum
})",
                             {{"$SOURCE", source}, {"$WINDOW", window}});
}

std::string Expanded(absl::string_view source, absl::string_view window) {
  return absl::StrReplaceAll(R"(
HloModule m
arg_ge {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  j = s32[] parameter(2)
  b = f32[] parameter(3)
  k = s32[] parameter(4)
  l = s32[] parameter(5)
  c = pred[] compare(a, b), direction=GE
  none = s32[] constant(-1)
  real = pred[] compare(i, none), direction=NE
  padding = pred[] compare(k, none), direction=EQ
  both = pred[] and(c, real)
  first = pred[] or(both, padding)
  v = f32[] select(first, a, b)
  p = s32[] select(first, i, k)
  q = s32[] select(first, j, l)
  ROOT r = (f32[], s32[], s32[]) tuple(v, p, q)
}
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  x = f32[4,6] parameter(0)
  s = f32[$SOURCE] parameter(1)
  zero = f32[] constant(0)
  i = s32[4,6] iota(), iota_dimension=0
  j = s32[4,6] iota(), iota_dimension=1
  none = s32[] constant(-1)
  w = (f32[$SOURCE], s32[$SOURCE], s32[$SOURCE]) reduce-window(x, i, j, zero, none, none), window={$WINDOW}, to_apply=arg_ge
  p = s32[$SOURCE] get-tuple-element(w), index=1
  p1 = s32[$SOURCE,1] reshape(p)
  q = s32[$SOURCE] get-tuple-element(w), index=2
  q1 = s32[$SOURCE,1] reshape(q)
  at = s32[$SOURCE,2] concatenate(p1, q1), dimensions={2}
  zeros = f32[4,6] broadcast(zero), dimensions={}
  ROOT r = f32[4,6] scatter(zeros, at, s), update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=2, to_apply=sum
})",
                             {{"$SOURCE", source}, {"$WINDOW", window}});
}

// ExpectRewrites runs both sides too.
TEST(SelectAndScatterExpander, FindsPlacesThenScatters) {
  constexpr char kWindow[] = "size=2x3 stride=2x3";
  ExpectRewrites("select_and_scatter_expander", Pooling("2,2", kWindow),
                 Expanded("2,2", kWindow));
}

// Windows overlap, so that a place can be selected twice; and all of x may be
// less than the initial value, with which the padding is filled.
TEST(SelectAndScatterExpander, HandlesOverlapAndPadding) {
  constexpr char kWindow[] = "size=3x3 stride=2x2 pad=1_0x1_1";
  ExpectRewrites("select_and_scatter_expander", Pooling("2,3", kWindow),
                 Expanded("2,3", kWindow));
}

// NaN is kept by no comparison; of equal values the first is; the initial value
// is in every result.
TEST(SelectAndScatterExpander, SelectsAmongTiesAndNans) {
  for (const char* direction : {"GE", "GT", "LE", "LT", "EQ", "NE"}) {
    for (const char* window :
         {"size=2 stride=2", "size=3 stride=2 pad=1_0", "size=2 pad=2_0"}) {
      SCOPED_TRACE(absl::StrCat(direction, " ", window));
      const bool is_wide = absl::StrContains(window, "pad=2");
      ExpectKeepsMeaning("select_and_scatter_expander",
                         absl::StrReplaceAll(
                             R"(
HloModule m
keeps {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=$DIRECTION
}
combine {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  two = f32[] constant(2)
  c = f32[] multiply(a, two)
  ROOT r = f32[] subtract(c, b)
}
ENTRY e {
  x = f32[8] constant({1, 1, nan, 0, -0, nan, -inf, 3})
  s = f32[$SOURCE] parameter(0)
  init = f32[] constant(5)
  ROOT r = f32[8] select-and-scatter(x, s, init), window={$WINDOW}, select=keeps, scatter=combine
})",
                             {{"$DIRECTION", direction},
                              {"$WINDOW", window},
                              {"$SOURCE", is_wide ? "9" : "4"}}));
    }
  }
}

TEST(SelectAndScatterExpander, CarriesTheSharding) {
  const Module module = ExpectKeepsMeaning(
      "select_and_scatter_expander",
      absl::StrReplaceAll(
          Pooling("2,2", "size=2x3 stride=2x3"),
          {{"scatter=sum", "scatter=sum, sharding={replicated}"}}));
  const Computation& entry = module.entry_computation();
  EXPECT_NE(FindAttribute(entry[entry.root()], "sharding"), nullptr);
}

}  // namespace
}  // namespace hone::hlo
