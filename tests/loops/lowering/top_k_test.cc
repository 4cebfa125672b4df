#include <algorithm>
#include <limits>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "hlo/evaluator/evaluator.h"
#include "hlo/ir/literal.h"
#include "loops/interpreter/interpreter.h"
#include "loops/lowering/lowering.h"
#include "loops/text/text.h"
#include "tests/loops/lowering/lowered.h"
#include "tests/loops/lowering/schedules_right.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

std::string Text(absl::string_view type, absl::string_view outer, int size,
                 int k, bool largest) {
  return absl::StrReplaceAll(ModuleText(R"(
  x = TYPE[OUTERSIZE] parameter(0)
  ROOT t = (TYPE[OUTERCOUNT], s32[OUTERCOUNT]) topk(x), k=COUNT, largest=LARGEST)"),
                             {{"TYPE", type},
                              {"OUTER", outer},
                              {"SIZE", absl::StrCat(size)},
                              {"COUNT", absl::StrCat(k)},
                              {"LARGEST", largest ? "true" : "false"}});
}

// Ranks of short lines, selection with and without groups, and full sorts.
TEST(LowerTopK, AnySize) {
  const std::pair<int, int> cases[] = {
      {1, 1},   {10, 4},   {64, 64},  {65, 3},   {100, 70}, {96, 24},
      {300, 2}, {1003, 5}, {900, 25}, {288, 66}, {700, 600}};
  for (const auto& [size, k] : cases) {
    for (const bool largest : {true, false}) {
      SCOPED_TRACE(absl::StrCat(size, " ", k, " ", largest));
      ExpectSchedulesRight(
          ExpectLowersRight(Text("f32", "2,", size, k, largest)));
      // Mostly ties.
      ExpectLowersRight(Text("pred", "", size, k, largest));
      ExpectLowersRight(Text("s8", "2,1,", size, k, largest));
    }
  }
}

TEST(LowerTopK, AnyType) {
  for (const char* type : {"f64", "f16", "bf16", "s16", "u32", "s64", "u64"}) {
    SCOPED_TRACE(type);
    ExpectLowersRight(Text(type, "3,", 200, 4, true));
    ExpectLowersRight(Text(type, "3,", 900, 2, false));
  }
}

// A place in so long a line has more bits than are left beside a key in 32.
TEST(LowerTopK, SmallTypeOfLongLine) {
  ExpectLowersRight(Text("bf16", "", (1 << 16) + 70, 3, true));
}

// Each is a minimum of all, so that nothing is stored under a condition.
TEST(LowerTopK, FindsFewOneByOne) {
  const auto has_conditions = [](int size, int k, const char* type = "f32") {
    const auto program =
        LowerToProgram(ParseModule(Text(type, "2,", size, k, true)));
    return program.ok() && absl::StrContains(PrintProgram(*program), " if (");
  };
  EXPECT_FALSE(has_conditions(192, 10));
  EXPECT_TRUE(has_conditions(5000, 11));
  EXPECT_FALSE(has_conditions(5000, 24, "bf16"));
  EXPECT_TRUE(has_conditions(5000, 25, "bf16"));
  EXPECT_TRUE(has_conditions(95, 24, "bf16"));
}

TEST(LowerTopK, ComputedOperand) {
  ExpectSchedulesRight(ExpectLowersRight(ModuleText(R"(
  x = f32[2,200] parameter(0)
  y = f32[2,200] multiply(x, x)
  t = (f32[2,3], s32[2,3]) topk(y), k=3, largest=true
  ROOT i = s32[2,3] get-tuple-element(t), index=1)")));
}

// Lines of few values, among them infinities, NaN and zeros of both signs.
TEST(LowerTopK, TiesInAnyOrder) {
  const float special[] = {0.0f,
                           -0.0f,
                           1.0f,
                           -std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN(),
                           -std::numeric_limits<float>::quiet_NaN()};
  const int size = 600;
  for (const int k : {7, 100}) {
    SCOPED_TRACE(k);
    const hlo::Module module = ParseModule(Text("f32", "", size, k, true));
    HONE_ASSERT_OK_AND_ASSIGN(const Program program, LowerToProgram(module));
    for (size_t first = 0; first < std::size(special); ++first) {
      for (size_t second = 0; second < std::size(special); ++second) {
        for (const int period : {1, 2, 97, 250, 600}) {
          hlo::Literal x(hlo::Shape::Array(hlo::ElementType::kF32, {size}));
          auto values = x.mutable_values<float>();
          for (int i = 0; i < size; ++i) {
            values[static_cast<size_t>(i)] =
                special[i % period == period - 1 ? second : first];
          }
          HONE_ASSERT_OK_AND_ASSIGN(
              const hlo::Literal expected,
              hlo::Evaluate(module, std::vector<hlo::Literal>{x}));
          HONE_ASSERT_OK_AND_ASSIGN(const std::vector<hlo::Literal> results,
                                    Interpret(program, {x}));
          for (int64_t i = 0; i < k; ++i) {
            ASSERT_EQ(expected.elements()[1].AsInt(i), results[1].AsInt(i))
                << special[first] << " " << special[second] << " " << period;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace hone::loops
