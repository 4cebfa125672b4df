#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/evaluator/evaluator.h"
#include "hlo/ir/literal.h"
#include "loops/interpreter/interpreter.h"
#include "loops/lowering/kernel/arg_region.h"
#include "loops/lowering/lowering.h"
#include "loops/text/text.h"
#include "tests/loops/lowering/lowered.h"
#include "tests/loops/lowering/schedules_right.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

// The regions of jnp.argmax and jnp.argmin.
constexpr char kFirst[] = R"(
first {
  a = TYPE[] parameter(0)
  i = s32[] parameter(1)
  b = TYPE[] parameter(2)
  j = s32[] parameter(3)
  better = pred[] compare(a, b), direction=DIRECTION
  nan = pred[] compare(a, a), direction=NE
  p = pred[] or(better, nan)
  v = TYPE[] select(p, a, b)
  eq = pred[] compare(a, b), direction=EQ
  lt = pred[] compare(i, j), direction=LT
  tie = pred[] and(eq, lt)
  q = pred[] or(p, tie)
  k = s32[] select(q, i, j)
  ROOT t = (TYPE[], s32[]) tuple(v, k)
})";

std::string Text(absl::string_view dimensions, int reduced,
                 absl::string_view kept, absl::string_view type,
                 absl::string_view init, absl::string_view direction) {
  return absl::StrReplaceAll(ModuleText(R"(
  x = TYPE[DIMS] parameter(0)
  i = s32[DIMS] iota(), iota_dimension=REDUCED
  low = TYPE[] constant(INIT)
  z = s32[] constant(0)
  ROOT r = (TYPE[KEPT], s32[KEPT]) reduce(x, i, low, z), dimensions={REDUCED}, to_apply=first)",
                                        kFirst),
                             {{"TYPE", std::string(type)},
                              {"DIMS", std::string(dimensions)},
                              {"KEPT", std::string(kept)},
                              {"INIT", std::string(init)},
                              {"REDUCED", absl::StrCat(reduced)},
                              {"DIRECTION", std::string(direction)}});
}

TEST(LowerArgReduce, AnyDimensionAndType) {
  struct Case {
    const char* dimensions;
    int reduced;
    const char* kept;
  };
  const Case cases[] = {{"9", 0, ""},
                        {"3,40", 1, "3"},
                        {"40,9", 0, "9"},
                        {"7,3", 0, "3"},
                        {"2,5,600", 1, "2,600"},
                        {"2,5,3", 1, "2,3"},
                        {"5000", 0, ""},
                        {"2,4096", 1, "2"},
                        {"3,1", 1, "3"},
                        {"4,7,1", 1, "4,1"},
                        {"4,5,3", 0, "5,3"},
                        {"2,4,3,1,2", 1, "2,3,1,2"},
                        {"3,300,4,1", 0, "300,4,1"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.dimensions);
    ExpectSchedulesRight(ExpectLowersRight(
        Text(c.dimensions, c.reduced, c.kept, "f32", "-inf", "GT")));
    ExpectLowersRight(
        Text(c.dimensions, c.reduced, c.kept, "f64", "inf", "LT"));
    // Many ties.
    ExpectLowersRight(Text(c.dimensions, c.reduced, c.kept, "u8", "0", "GT"));
    ExpectLowersRight(
        Text(c.dimensions, c.reduced, c.kept, "s32", "2147483647", "LT"));
  }
}

TEST(LowerArgReduce, JoinsDimensionsOfShortColumns) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const Program program,
      LowerToProgram(ParseModule(Text("6,7,3", 0, "7,3", "f32", "inf", "LT"))));
  EXPECT_THAT(PrintProgram(program), ::testing::HasSubstr("best f32[21]"));
}

TEST(LowerArgReduce, ComputedOperands) {
  ExpectSchedulesRight(ExpectLowersRight(
      absl::StrReplaceAll(ModuleText(R"(
  x = f32[3,50] parameter(0)
  y = f32[3,50] parameter(1)
  s = f32[3,50] multiply(x, y)
  i = s32[3,50] iota(), iota_dimension=1
  low = f32[] constant(-inf)
  z = s32[] constant(0)
  ROOT r = (f32[3], s32[3]) reduce(s, i, low, z), dimensions={1}, to_apply=first)",
                                     kFirst),
                          {{"TYPE", "f32"}, {"DIRECTION", "GT"}})));
}

// NaN, infinities and zeros of both signs, against a plain search.
TEST(LowerArgReduce, FirstOfEqualsAndOfNans) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const size_t size : {size_t{20}, size_t{4100}}) {
    const hlo::Module module =
        ParseModule(Text(absl::StrCat(size), 0, "", "f32", "-inf", "GT"));
    HONE_ASSERT_OK_AND_ASSIGN(const Program program, LowerToProgram(module));
    const std::vector<std::vector<std::pair<size_t, float>>> cases = {
        {},
        {{5, 1}, {9, 1}},
        {{7, kNan}, {3, 5}},
        {{size - 1, kNan}},
        {{size - 2, 2}, {size - 1, 2}},
        {{0, kNan}, {12, kNan}},
        {{11, kInf}, {13, kInf}}};
    for (const float fill : {-kInf, -1.0f, -0.0f}) {
      for (const auto& special : cases) {
        hlo::Literal x(hlo::Shape::Array(hlo::ElementType::kF32,
                                         {static_cast<int64_t>(size)}));
        auto values = x.mutable_values<float>();
        std::fill(values.begin(), values.end(), fill);
        for (const auto& [at, value] : special) values[at] = value;
        size_t best = 0;
        for (size_t i = 1; i < size && !std::isnan(values[best]); ++i) {
          if (values[i] > values[best] || std::isnan(values[i])) best = i;
        }
        HONE_ASSERT_OK_AND_ASSIGN(const std::vector<hlo::Literal> results,
                                  Interpret(program, {x}));
        EXPECT_EQ(results[1].AsInt(0), static_cast<int64_t>(best));
        HONE_ASSERT_OK_AND_ASSIGN(
            const hlo::Literal expected,
            hlo::Evaluate(module, std::vector<hlo::Literal>{x}));
        EXPECT_EQ(expected.elements()[1].AsInt(0), results[1].AsInt(0));
      }
    }
  }
}

TEST(ArgRegion, MatchesWhatItDoes) {
  const auto match = [](absl::string_view body) {
    const hlo::Module module = ParseModule(absl::StrCat(R"(HloModule m
r {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
)",
                                                        body, R"(
  ROOT t = (f32[], s32[]) tuple(v, k)
}
ENTRY e {
  x = f32[3] parameter(0)
  n = s32[3] iota(), iota_dimension=0
  z = f32[] constant(0)
  o = s32[] constant(0)
  ROOT r = (f32[], s32[]) reduce(x, n, z, o), dimensions={0}, to_apply=r
})"));
    const hlo::Computation& entry = module.entry_computation();
    return KeepsFirstExtremum(
        module.computation(entry[entry.root()].called()[0]));
  };
  // NaN of the first pair is kept by "not less", but not that of the second.
  EXPECT_EQ(match("p = pred[] compare(a, b), direction=GE\n"
                  "v = f32[] select(p, a, b)\nk = s32[] select(p, i, j)"),
            std::nullopt);
  EXPECT_EQ(match("l = pred[] compare(a, b), direction=GE\n"
                  "n = pred[] compare(a, a), direction=NE\n"
                  "p = pred[] or(l, n)\n"
                  "v = f32[] select(p, a, b)\nk = s32[] select(p, i, j)"),
            true);
  EXPECT_EQ(match("l = pred[] compare(b, a), direction=GE\n"
                  "n = pred[] compare(a, a), direction=NE\n"
                  "p = pred[] or(l, n)\n"
                  "v = f32[] select(p, a, b)\nk = s32[] select(p, i, j)"),
            false);
  // The last of equal values.
  EXPECT_EQ(match("l = pred[] compare(a, b), direction=GT\n"
                  "n = pred[] compare(a, a), direction=NE\n"
                  "p = pred[] or(l, n)\n"
                  "v = f32[] select(p, a, b)\nk = s32[] select(p, i, j)"),
            std::nullopt);
  // Arithmetic.
  EXPECT_EQ(match("v = f32[] add(a, b)\nk = s32[] add(i, j)"), std::nullopt);
}

}  // namespace
}  // namespace hone::loops
