// The schedules of products whose operands are computed in front of them.

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "loops/ir/rewrite.h"
#include "loops/text/text.h"
#include "loops/transforms/analysis/iteration_count.h"
#include "tests/loops/program_text.h"
#include "tests/loops/schedules/scheduled_text.h"

namespace hone::loops {
namespace {

using ::hone::testing::Count;
using ::hone::testing::ParseText;
using ::hone::testing::ScheduledText;
using ::hone::testing::SmallVectors;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// Weights of s8 with a scale per column: $0 rows of the other operand, $1 steps
// of the sum, $2 columns.
constexpr char kScaledWeights[] = R"(kernel m
argument x f32[$0,$1]
argument w s8[$1,$2]
argument s f32[$2]
result y f32[$0,$2]
local t f32[$1,$2] heap
for k $1
| for j $2
| | t[k,j] = convert(f32, w[k,j]) * s[j]
for i $0
| for j $2
| | y[i,j] = 0.0
| | for k $1
| | | y[i,j] += x[i,k] * t[k,j]
)";

std::string ScaledWeights(int rows, int steps, int columns) {
  return absl::Substitute(kScaledWeights, rows, steps, columns);
}

// Returns how often elements of `name` are loaded in statements that are not
// sums.
double LoadsOf(const std::string& text, const std::string& name) {
  const Program program = ParseText(text);
  double loads = 0;
  VisitStatements(program, {}, [&](const Path& path, const Statement& st) {
    if (st.combine.has_value()) return;
    VisitLoads(*st.value, [&](const Access& access) {
      if (program.buffer(access.buffer).name == name) {
        loads += IterationCount(program, path);
      }
    });
  });
  return loads;
}

TEST(InlineOperands, ProductsWithAVectorComputeTheMatrix) {
  const std::string text = ScheduledText(ScaledWeights(1, 48, 64));
  EXPECT_THAT(text, Not(HasSubstr("local t ")));
  EXPECT_THAT(text, ContainsRegex("\\+= x\\[[^]]*\\] \\* \\(convert"));
}

TEST(InlineOperands, PanelsAreComputedOnce) {
  const std::string text = ScheduledText(ScaledWeights(40, 48, 64));
  EXPECT_THAT(text, Not(HasSubstr("local t ")));
  EXPECT_THAT(text, ContainsRegex("t_copy\\[[^]]*\\] = convert\\(f32, w"));
  EXPECT_EQ(LoadsOf(text, "w"), 48 * 64);
}

TEST(InlineOperands, PanelsOfThreadsAreComputedOnce) {
  const std::string text =
      ScheduledText(ScaledWeights(64, 96, 256), SmallVectors(2));
  EXPECT_THAT(text, Not(HasSubstr("local t ")));
  EXPECT_EQ(LoadsOf(text, "w"), 96 * 256);
}

// Panels that are computed pay off for fewer rows than those that are copied,
// and for fewer still if threads cannot share what is in front of them.
TEST(InlineOperands, PanelsOfFewRowsAreComputedOnce) {
  const auto has_panels = [](int rows, int threads, int64_t registers) {
    Machine machine = SmallVectors(threads);
    machine.l2_bytes = 32 << 10;
    machine.vector_bytes = 64;
    machine.vector_registers = registers;
    return absl::StrContains(
        ScheduledText(ScaledWeights(rows, 64, 128), machine), "t_copy");
  };
  EXPECT_TRUE(has_panels(8, 1, 32));
  EXPECT_FALSE(has_panels(7, 1, 32));
  EXPECT_TRUE(has_panels(2, 2, 32));
  // Panels of two vectors have less than a cache line of s8.
  EXPECT_FALSE(has_panels(8, 1, 16));
}

TEST(InlineOperands, TransposedPanelsAreComputedOnce) {
  const std::string text = ScheduledText(absl::StrReplaceAll(
      ScaledWeights(40, 48, 48), {{"t[k,j]\n", "t[j,k]\n"}}));
  EXPECT_THAT(text, Not(HasSubstr("local t ")));
  EXPECT_EQ(LoadsOf(text, "w"), 48 * 48);
}

// Eight steps of the sum share a scale.
TEST(InlineOperands, WeightsOfGroupsAreComputedOnce) {
  for (const int rows : {1, 40}) {
    const std::string text = ScheduledText(absl::Substitute(R"(kernel m
argument x f32[$0,48]
argument w s8[6,8,64]
argument s f32[6,64]
result y f32[$0,64]
local t f32[6,8,64] heap
for g 6
| for k 8
| | for j 64
| | | t[g,k,j] = convert(f32, w[g,k,j]) * s[g,j]
for i $0
| for j 64
| | y[i,j] = 0.0
| | for k 48
| | | y[i,j] += x[i,k] * t@[64*k+j]
)",
                                                            rows));
    EXPECT_THAT(text, Not(HasSubstr("local t ")));
    if (rows > 1) {
      EXPECT_EQ(LoadsOf(text, "w"), 48 * 64);
    }
  }
}

// Operands that L2 does not hold, and that few rows read in place.
TEST(InlineOperands, LargeOperandsAreComputedByBlocks) {
  Machine machine = SmallVectors(1);
  machine.l2_bytes = 16 << 10;
  const std::string text = ScheduledText(ScaledWeights(3, 64, 64), machine);
  EXPECT_THAT(text, ContainsRegex("\\| local t f32\\[8,64\\]")) << text;
  EXPECT_EQ(LoadsOf(text, "w"), 64 * 64);
  // A cache holds a smaller one.
  EXPECT_THAT(ScheduledText(ScaledWeights(3, 64, 64)),
              HasSubstr("\nlocal t f32[64,64]"));
}

// Polynomials take longer than memory.
TEST(InlineOperands, ExpensiveOperandsAreComputedApart) {
  for (const int rows : {1, 40}) {
    EXPECT_THAT(
        ScheduledText(absl::StrReplaceAll(
            ScaledWeights(rows, 48, 64),
            {{"convert(f32, w[k,j]) *", "tanh(convert(f32, w[k,j])) *"}})),
        HasSubstr("\nlocal t f32[48,64]"));
  }
}

// Both operands are the same matrix.
TEST(InlineOperands, OperandsThatAreReadTwiceAreComputedApart) {
  const std::string text = ScheduledText(R"(kernel m
argument x f32[40,40]
result y f32[40,40]
local t f32[40,40] heap
for i 40
| for j 40
| | t[i,j] = x[i,j] + x[i,j]
for i 40
| for j 40
| | y[i,j] = 0.0
| | for k 40
| | | y[i,j] += t[i,k] * t[k,j]
)");
  EXPECT_THAT(text, HasSubstr("\nlocal t f32[40,40]"));
  EXPECT_EQ(LoadsOf(text, "x"), 2 * 40 * 40);
}

TEST(InlineOperands, ImagesAreComputedWithTheirMargin) {
  const std::string text = ScheduledText(R"(kernel c
argument x f32[16,16,8]
argument b f32[8]
argument w f32[3,3,8,8]
result y f32[16,16,8]
local t f32[16,16,8] heap
for i 16
| for j 16
| | for c 8
| | | t[i,j,c] = maximum(x[i,j,c] + b[c], 0.0)
for i 16
| for j 16
| | for f 8
| | | y[i,j,f] = 0.0
| | | for k 3
| | | | for l 3
| | | | | for c 8
| | | | | | y[i,j,f] += where(0 <= i+k-1 < 16 and 0 <= j+l-1 < 16, t[i+k-1,j+l-1,c], 0.0) * w[k,l,c,f]
)");
  EXPECT_THAT(text, Not(HasSubstr("local t ")));
  EXPECT_THAT(text, HasSubstr("local t_copy f32[18,18,8]"));
  EXPECT_EQ(LoadsOf(text, "x"), 18 * 18 * 8);
}

}  // namespace
}  // namespace hone::loops
