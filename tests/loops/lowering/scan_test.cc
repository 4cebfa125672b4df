#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/loops/lowering/lowered.h"
#include "tests/loops/lowering/schedules_right.h"

namespace hone::loops {
namespace {

constexpr char kRegions[] = R"(
one {
  a = TYPE[] parameter(0)
  b = TYPE[] parameter(1)
  ROOT c = TYPE[] OP(a, b)
}
first {
  a = TYPE[] parameter(0)
  b = TYPE[] parameter(1)
  ROOT c = TYPE[] add(a, a)
}
logaddexp {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  m = f32[] maximum(a, b)
  d = f32[] subtract(a, b)
  n = f32[] abs(d)
  p = f32[] negate(n)
  e = f32[] exponential(p)
  l = f32[] log-plus-one(e)
  ROOT c = f32[] add(m, l)
}
)";

struct Case {
  const char* dimensions;
  // The window of prefixes; suffixes have its padding in the other order.
  const char* sizes;
  const char* prefixes;
  const char* suffixes;
};

constexpr Case kCases[] = {
    {"9", "9", "8_0", "0_8"},
    {"2", "2", "1_0", "0_1"},
    {"5,6", "1x6", "0_0x5_0", "0_0x0_5"},
    {"37,6", "1x6", "0_0x5_0", "0_0x0_5"},
    {"6,11", "6x1", "5_0x0_0", "0_5x0_0"},
    {"5,300", "5x1", "4_0x0_0", "0_4x0_0"},
    {"3,4,5", "1x4x1", "0_0x3_0x0_0", "0_0x0_3x0_0"},
    {"2,7,3", "2x1x1", "1_0x0_0x0_0", "0_1x0_0x0_0"},
    {"7,1,1", "7x1x1", "6_0x0_0x0_0", "0_6x0_0x0_0"},
    // Short lines, of which vectors take several.
    {"45,2", "1x2", "0_0x1_0", "0_0x0_1"},
    {"7,3,3", "1x1x3", "0_0x0_0x2_0", "0_0x0_0x0_2"},
    {"33,4,1", "1x4x1", "0_0x3_0x0_0", "0_0x0_3x0_0"},
    // Windows may be longer than the line.
    {"3,4", "1x7", "0_0x6_0", "0_0x0_6"},
    {"4,0", "4x1", "3_0x0_0", "0_3x0_0"},
};

std::string Text(const Case& c, absl::string_view padding,
                 absl::string_view type, absl::string_view opcode,
                 absl::string_view region) {
  return absl::StrReplaceAll(
      ModuleText(absl::StrCat("  x = TYPE[", c.dimensions,
                              "] parameter(0)\n  i = TYPE[] parameter(1)\n"
                              "  ROOT y = TYPE[",
                              c.dimensions,
                              "] reduce-window(x, i), window={size=", c.sizes,
                              " pad=", padding, "}, to_apply=", region),
                 kRegions),
      {{"TYPE", std::string(type)}, {"OP", std::string(opcode)}});
}

TEST(LowerScan, PrefixesAndSuffixesOfAnyDimension) {
  for (const Case& c : kCases) {
    for (const char* padding : {c.prefixes, c.suffixes}) {
      for (const char* opcode : {"add", "maximum"}) {
        SCOPED_TRACE(absl::StrCat(c.dimensions, " ", padding, " ", opcode));
        ExpectSchedulesRight(
            ExpectLowersRight(Text(c, padding, "f32", opcode, "one")));
      }
    }
  }
}

TEST(LowerScan, EveryTypeAndRegion) {
  const Case& c = kCases[2];
  for (const char* padding : {c.prefixes, c.suffixes}) {
    for (const char* type : {"f32", "f64", "s32", "u8", "s64"}) {
      for (const char* opcode : {"add", "multiply", "minimum", "maximum"}) {
        SCOPED_TRACE(absl::StrCat(type, " ", opcode, " ", padding));
        ExpectLowersRight(Text(c, padding, type, opcode, "one"));
      }
    }
    for (const char* opcode : {"and", "or"}) {
      ExpectLowersRight(Text(c, padding, "pred", opcode, "one"));
      ExpectLowersRight(Text(c, padding, "u32", opcode, "one"));
    }
    ExpectLowersRight(Text(c, padding, "bf16", "maximum", "one"));
    ExpectSchedulesRight(
        ExpectLowersRight(Text(kCases[3], padding, "f32", "add", "logaddexp")));
  }
  // A region that is not commutative, in the order of the windows.
  ExpectLowersRight(Text(c, c.prefixes, "f32", "add", "first"));
}

// Nothing is carried from one step to the next.
TEST(LowerScan, ShortLinesHaveAStatementForEachElement) {
  const Case c = {"45,4", "1x4", "0_0x3_0", "0_0x0_3"};
  for (const char* padding : {c.prefixes, c.suffixes}) {
    const Program program =
        ExpectLowersRight(Text(c, padding, "f32", "maximum", "one"));
    EXPECT_TRUE(program.locals().empty());
    ASSERT_EQ(program.body().size(), 1u);
    EXPECT_EQ(program.body()[0].loop()->body.size(), 4u);
    ExpectLowersRight(Text(c, padding, "f32", "add", "logaddexp"));
  }
}

TEST(LowerScan, LongLinesInParts) {
  // 64 parts, without and with a rest.
  const Case cases[] = {{"4096", "4096", "4095_0", "0_4095"},
                        {"2,4131", "1x4131", "0_0x4130_0", "0_0x0_4130"}};
  for (const Case& c : cases) {
    for (const char* padding : {c.prefixes, c.suffixes}) {
      SCOPED_TRACE(padding);
      const Program program =
          ExpectLowersRight(Text(c, padding, "s32", "add", "one"));
      ExpectSchedulesRight(program);
    }
    ExpectLowersRight(Text(c, c.prefixes, "f32", "add", "logaddexp"));
  }
}

TEST(LowerScan, SeveralOperands) {
  // Pairs of factors and addends compose as affine functions.
  ExpectLowersRight(ModuleText(R"(
  f = f32[3,9] parameter(0)
  a = f32[3,9] parameter(1)
  one = f32[] constant(1)
  z = f32[] constant(0)
  ROOT y = (f32[3,9], f32[3,9]) reduce-window(f, a, one, z), window={size=1x9 pad=0_0x8_0}, to_apply=compose)",
                               R"(
compose {
  f = f32[] parameter(0)
  a = f32[] parameter(1)
  g = f32[] parameter(2)
  b = f32[] parameter(3)
  fg = f32[] multiply(f, g)
  ga = f32[] multiply(g, a)
  c = f32[] add(ga, b)
  ROOT t = (f32[], f32[]) tuple(fg, c)
})"));
}

}  // namespace
}  // namespace hone::loops
