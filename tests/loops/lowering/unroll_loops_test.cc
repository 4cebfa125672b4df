#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "loops/lowering/lowering.h"
#include "tests/loops/lowering/lowered.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

// A loop of `count` iterations with `update` as the new value of x.
std::string Text(int count, absl::string_view update) {
  return absl::StrReplaceAll(
      ModuleText(R"(
  z = s32[] constant(0)
  v = f32[3,3] parameter(0)
  w = f32[3,3] parameter(1)
  s = (s32[], f32[3,3], f32[3,3]) tuple(z, v, w)
  l = (s32[], f32[3,3], f32[3,3]) while(s), condition=more, body=step
  ROOT r = f32[3,3] get-tuple-element(l), index=1)",
                 R"(
step {
  s = (s32[], f32[3,3], f32[3,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[3,3] get-tuple-element(s), index=1
  y = f32[3,3] get-tuple-element(s), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  f = f32[] convert(i)
  b = f32[3,3] broadcast(f), dimensions={}
  u = f32[3,3] UPDATE
  ROOT t = (s32[], f32[3,3], f32[3,3]) tuple(next, u, x)
}
more {
  s = (s32[], f32[3,3], f32[3,3]) parameter(0)
  x = f32[3,3] get-tuple-element(s), index=1
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(COUNT)
  ROOT c = pred[] compare(i, n), direction=LT
})"),
      {{"COUNT", absl::StrCat(count)}, {"UPDATE", std::string(update)}});
}

TEST(UnrollLoops, OfFewElementwiseIterations) {
  for (const int count : {0, 1, 5, 8}) {
    SCOPED_TRACE(count);
    ExpectLowersRight(Text(count, "multiply(y, b)"));
    ExpectPlansRight(Text(count, "multiply(y, b)"));
  }
}

TEST(UnrollLoops, NotOthers) {
  for (const std::string& text :
       {Text(9, "multiply(y, b)"), Text(2,
                                        "dot(x, y), lhs_contracting_dims={1}, "
                                        "rhs_contracting_dims={0}")}) {
    EXPECT_THAT(LowerToProgram(ParseModule(text)),
                ::hone::testing::StatusIs(absl::StatusCode::kUnimplemented,
                                          ::testing::HasSubstr("while")));
    ExpectPlansRight(text);
  }
}

}  // namespace
}  // namespace hone::loops
