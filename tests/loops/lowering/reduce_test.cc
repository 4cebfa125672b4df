#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/loops/lowering/lowered.h"
#include "tests/loops/lowering/schedules_right.h"

namespace hone::loops {
namespace {

constexpr char kSum[] = R"(
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
})";

TEST(LowerReduce, CombinesOverAnyDimensions) {
  for (const char* opcode : {"add", "multiply", "maximum", "minimum"}) {
    for (const char* type : {"f32", "bf16", "f16", "s32", "u8"}) {
      SCOPED_TRACE(absl::StrCat(opcode, " ", type));
      ExpectLowersRight(absl::StrReplaceAll(ModuleText(R"(
  x = TYPE[3,4,5] parameter(0)
  i = TYPE[] parameter(1)
  a = TYPE[4] reduce(x, i), dimensions={0,2}, to_apply=f
  b = TYPE[] reduce(x, i), dimensions={0,1,2}, to_apply=f
  c = TYPE[3,4,5] reduce(x, i), dimensions={}, to_apply=f
  ROOT t = (TYPE[4], TYPE[], TYPE[3,4,5]) tuple(a, b, c))",
                                                       R"(
f {
  a = TYPE[] parameter(0)
  b = TYPE[] parameter(1)
  ROOT c = TYPE[] OP(b, a)
})"),
                                            {{"TYPE", type}, {"OP", opcode}}));
    }
  }
}

TEST(LowerReduce, ProducersRunInside) {
  const Program program = ExpectLowersRight(ModuleText(R"(
  x = f32[3,20] parameter(0)
  z = f32[] constant(0)
  e = f32[3,20] exponential(x)
  r = f32[3,2,10] reshape(e)
  ROOT s = f32[3,10] reduce(r, z), dimensions={1}, to_apply=sum)",
                                                       kSum));
  EXPECT_EQ(CountLocalArrays(program), 0);
}

TEST(LowerReduce, Softmax) {
  const Program program = ExpectLowersRight(ModuleText(R"(
  x = f32[3,7] parameter(0)
  z = f32[] constant(0)
  low = f32[] constant(-inf)
  m = f32[3] reduce(x, low), dimensions={1}, to_apply=max
  mb = f32[3,7] broadcast(m), dimensions={0}
  d = f32[3,7] subtract(x, mb)
  e = f32[3,7] exponential(d)
  s = f32[3] reduce(e, z), dimensions={1}, to_apply=sum
  sb = f32[3,7] broadcast(s), dimensions={0}
  ROOT y = f32[3,7] divide(e, sb))",
                                                       absl::StrCat(kSum, R"(
max {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b)
})")));
  // Maximum, exponentials and sum.
  EXPECT_EQ(CountLocalArrays(program), 3);
}

TEST(LowerReduce, SeveralOperandsAndOtherRegions) {
  ExpectLowersRight(ModuleText(R"(
  x = f32[3,9] parameter(0)
  i = s32[3,9] iota(), iota_dimension=1
  low = f32[] constant(-inf)
  z = s32[] constant(0)
  a = (f32[3], s32[3]) reduce(x, i, low, z), dimensions={1}, to_apply=argmax
  v = f32[3] get-tuple-element(a), index=0
  k = s32[3] get-tuple-element(a), index=1
  one = f32[] constant(0.5)
  h = f32[9] reduce(x, one), dimensions={0}, to_apply=horner
  ROOT t = (f32[3], s32[3], f32[9]) tuple(v, k, h))",
                               R"(
argmax {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  gt = pred[] compare(a, b), direction=GE
  v = f32[] select(gt, a, b)
  k = s32[] select(gt, i, j)
  ROOT t = (f32[], s32[]) tuple(v, k)
}
horner {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  half = f32[] constant(0.5)
  m = f32[] multiply(a, half)
  ROOT c = f32[] add(m, b)
})"));
}

TEST(LowerReduce, EmptyOperands) {
  ExpectLowersRight(ModuleText(R"(
  x = f32[3,0] parameter(0)
  i = f32[] parameter(1)
  ROOT r = f32[3] reduce(x, i), dimensions={1}, to_apply=sum)",
                               kSum));
}

TEST(LowerReduce, WindowsWithStridesPaddingAndDilation) {
  const std::pair<const char*, const char*> cases[] = {
      {"size=1x3x2 stride=1x2x1 pad=0_0x1_1x0_1", "4,4,5"},
      {"size=1x2x3 stride=1x1x2 pad=0_0x-1_2x2_0 rhs_dilate=1x2x1", "4,6,3"},
      {"size=1x3x3 stride=1x2x1 pad=0_0x2_1x1_1 lhs_dilate=1x3x2", "4,10,9"},
      {"size=2x1x1 stride=3x1x1", "1,7,5"}};
  for (const auto& [window, dimensions] : cases) {
    SCOPED_TRACE(window);
    ExpectLowersRight(
        absl::StrReplaceAll(ModuleText(R"(
  x = f32[4,7,5] parameter(0)
  z = f32[] constant(0.25)
  s = f32[OUT] reduce-window(x, z), window={WINDOW}, to_apply=sum
  h = f32[OUT] reduce-window(x, z), window={WINDOW}, to_apply=horner
  ROOT t = (f32[OUT], f32[OUT]) tuple(s, h))",
                                       absl::StrCat(kSum, R"(
horner {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  half = f32[] constant(0.5)
  m = f32[] multiply(a, half)
  ROOT c = f32[] add(m, b)
})")),
                            {{"WINDOW", window}, {"OUT", dimensions}}));
  }
}

// Pooling, channels last and first.
TEST(LowerReduce, WindowsWithColumns) {
  struct Case {
    const char* input;
    const char* output;
    const char* window;
  };
  const Case cases[] = {
      {"2,7,7,9", "2,4,4,9", "size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_1x0_0"},
      {"2,6,6,70", "2,3,3,70", "size=1x2x2x1 stride=1x2x2x1"},
      {"5,4,8,1", "4,4,8,1", "size=2x3x1x1 pad=0_0x1_1x0_0x0_0"},
      {"2,3,9,20", "2,3,5,10",
       "size=1x1x3x3 stride=1x1x2x2 pad=0_0x0_0x1_1x0_1"},
      {"6,70", "6,68", "size=3x3 pad=1_1x0_0 rhs_dilate=1x1"},
      {"5,9", "5,12", "size=2x2 pad=1_0x2_2"}};
  for (const Case& c : cases) {
    for (const char* type : {"f32", "bf16", "s8"}) {
      SCOPED_TRACE(absl::StrCat(c.input, " ", type));
      ExpectSchedulesRight(
          ExpectLowersRight(absl::StrReplaceAll(ModuleText(R"(
  x = TYPE[IN] parameter(0)
  i = TYPE[] parameter(1)
  m = TYPE[OUT] reduce-window(x, i), window={WINDOW}, to_apply=max
  s = TYPE[OUT] reduce-window(x, i), window={WINDOW}, to_apply=plus
  ROOT t = (TYPE[OUT], TYPE[OUT]) tuple(m, s))",
                                                           R"(
max {
  a = TYPE[] parameter(0)
  b = TYPE[] parameter(1)
  ROOT c = TYPE[] maximum(a, b)
}
plus {
  a = TYPE[] parameter(0)
  b = TYPE[] parameter(1)
  ROOT c = TYPE[] add(a, b)
})"),
                                                {{"TYPE", type},
                                                 {"IN", c.input},
                                                 {"OUT", c.output},
                                                 {"WINDOW", c.window}})));
    }
  }
}

// One dimension after the other, with an array in between.
TEST(LowerReduce, LargeWindowsAreSeparated) {
  for (const char* opcode : {"add", "maximum"}) {
    const Program program = ExpectLowersRight(absl::StrReplaceAll(
        ModuleText(R"(
  x = f32[20,24,3] parameter(0)
  z = f32[] constant(INIT)
  ROOT s = f32[20,9,3] reduce-window(x, z), window={size=11x9x1 stride=1x2x1 pad=5_5x1_0x0_0}, to_apply=f)",
                   R"(
f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] OP(a, b)
})"),
        {{"OP", opcode},
         {"INIT", std::string(opcode) == "add" ? "0" : "-inf"}}));
    EXPECT_EQ(CountLocalArrays(program), 1);
  }
}

TEST(LowerReduce, SelectAndScatter) {
  ExpectLowersRight(ModuleText(R"(
  x = f32[4,6] parameter(0)
  y = f32[2,3] parameter(1)
  z = f32[] constant(0)
  ROOT s = f32[4,6] select-and-scatter(x, y, z), window={size=2x3 stride=2x2 pad=0_0x0_1}, select=ge, scatter=sum)",
                               absl::StrCat(kSum, R"(
ge {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=GE
})")));
}

TEST(LowerReduce, BatchNormalization) {
  ExpectLowersRight(ModuleText(R"(
  x = f32[4,3,5] parameter(0)
  g = f32[3] parameter(1)
  o = f32[3] parameter(2)
  ROOT n = (f32[4,3,5], f32[3], f32[3]) batch-norm-training(x, g, o), epsilon=0.001, feature_index=1)"));
}

}  // namespace
}  // namespace hone::loops
