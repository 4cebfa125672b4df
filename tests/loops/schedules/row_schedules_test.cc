#include <cstdint>
#include <string>

#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "loops/schedules/row_blocks.h"
#include "loops/transforms/machine.h"
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

// Rows as lanes: a vector of 4 of 22 rows, and the 2 that are left.
TEST(ScheduleOfRows, MakesShortRowsOfSoftmaxLanes) {
  const std::string text = ScheduledText(R"(kernel m
argument x f32[22,5]
result y f32[22,5]
local m f32[22] heap
local e f32[22,5] heap
local s f32[22] heap
for i 22
| m[i] = -inf
for i 22
| for j 5
| | m[i] max= x[i,j]
for i 22
| for j 5
| | e[i,j] = exponential(x[i,j] - m[i])
for i 22
| s[i] = 0.0
for i 22
| for j 5
| | s[i] += e[i,j]
for i 22
| for j 5
| | y[i,j] = e[i,j] / s[i]
)");
  EXPECT_THAT(text, HasSubstr("local m_1 f32[4] register"));
  EXPECT_THAT(text, HasSubstr(R"(
| for i1 5 unrolled
| | for i2 4 vector
| | | m_1[i2] max= x[4*i0+i2,i1]
)"));
  EXPECT_THAT(text, HasSubstr("y[4*i0+i2,i1] ="));
  EXPECT_THAT(text, HasSubstr("y[i1+20,i0] ="));
}

TEST(ScheduleOfRows, VectorizesARowThatIsLeftAlongTheRow) {
  const std::string text = ScheduledText(R"(kernel m
argument x f32[21,4]
result y f32[21,4]
for i 21
| local m f32[] register
| m[] = -inf
| for j 4
| | m[] max= x[i,j]
| for j 4
| | y[i,j] = exponential(x[i,j] - m[])
)");
  EXPECT_THAT(text, HasSubstr("m[i2] max= x[4*i0+i2,i1]"));
  EXPECT_THAT(text, HasSubstr(R"(
| for i1 4 vector
| | m_1[] max= x[i0+20,i1]
)"));
}

TEST(ScheduleOfRows, MakesRowsOfAllDimensionsLanesOfArgmax) {
  const std::string text = ScheduledText(R"(kernel m
argument x f32[4,3,6]
result y s32[4,3]
local m f32[4,3] heap
for i 4
| for j 3
| | m[i,j] = -inf
for i 4
| for j 3
| | for k 6
| | | m[i,j] max= x[i,j,k]
for i 4
| for j 3
| | y[i,j] = s32(5)
for i 4
| for j 3
| | for k 6
| | | y[i,j] min= select(x[i,j,k] == m[i,j], index(s32, k), s32(5))
)");
  EXPECT_THAT(text, HasSubstr("for i0 3\n"));
  EXPECT_THAT(text, HasSubstr("m[i2] max= x@[24*i0+i1+6*i2]"));
}

// Softmax over the outermost dimension.
TEST(ScheduleOfRows, JoinsDimensionsOfShortColumns) {
  const std::string text = ScheduledText(R"(kernel m
argument x f32[9,8,3]
result y f32[9,8,3]
local m f32[8,3] heap
for i 8
| for j 3
| | m[i,j] = -inf
| | for k 9
| | | m[i,j] max= x[k,i,j]
for k 9
| for i 8
| | for j 3
| | | y[k,i,j] = x[k,i,j] - m[i,j]
)");
  EXPECT_THAT(text, HasSubstr(" vector"));
  EXPECT_EQ(Count(text, "for i1 3"), 0);
  EXPECT_EQ(Count(text, "x["), 0);  // all by their number
}

// The sum of all columns would keep its own loops.
TEST(ScheduleOfRows, KeepsDimensionsOfColumnsThatNotAllNestsJoin) {
  const std::string text = ScheduledText(R"(kernel m
argument x f32[9,8,3]
result m f32[8,3]
result s f32[8]
for i 8
| for j 3
| | m[i,j] = -inf
| | for k 9
| | | m[i,j] max= x[k,i,j]
for i 8
| s[i] = 0.0
| for j 3
| | s[i] += m[i,j]
)");
  EXPECT_GT(Count(text, "m["), 0);
}

TEST(ScheduleOfRows, LeavesLongRowsAlongVectors) {
  const std::string text = ScheduledText(R"(kernel m
argument x f32[22,48]
result y f32[22,48]
local m f32[22] heap
for i 22
| m[i] = -inf
for i 22
| for j 48
| | m[i] max= x[i,j]
for i 22
| for j 48
| | y[i,j] = x[i,j] - m[i]
)");
  EXPECT_THAT(text, HasSubstr("m[] max= x[i0,"));
}

TEST(ScheduleOfRows, ReducesAnArrayToOneNumberAsOneRow) {
  const std::string text = ScheduledText(R"(kernel m
argument x f32[3,5,33]
result y f32[]
y[] = -inf
for i 3
| for j 5
| | for k 33
| | | y[] max= x[i,j,k]
)");
  EXPECT_THAT(text, HasSubstr("y[] max= x@[16*i0+4*i1+i2]"));
}

TEST(ScheduleOfRows, PoolsWindowsOfAnyNumberOfChannelsInRegisters) {
  const std::string text = ScheduledText(R"(kernel m
argument x f32[3,9,9,3]
result y f32[3,7,7,3]
local t f32[3,7,7,3] heap
for i 3
| for h 7
| | for w 7
| | | for c 3
| | | | t[i,h,w,c] = 0.0
| | | | for u 3
| | | | | for v 3
| | | | | | t[i,h,w,c] += x[i,h+u,w+v,c]
for i 3
| for h 7
| | for w 7
| | | for c 3
| | | | y[i,h,w,c] = t[i,h,w,c] / 9.0
)");
  EXPECT_THAT(text, HasSubstr("local t f32[4,3] register"));
}

TEST(ScheduleOfRows, VectorizesRecurrencesOfAdjacentElements) {
  const std::string text = ScheduledText(R"(kernel m
argument x f32[5,12,3]
result y f32[5,3]
for i 5
| local best f32[3] stack
| for c 3
| | best[c] = 0.0
| for k 12
| | for c 3
| | | best[c] = select(x[i,k,c] > best[c], x[i,k,c], best[c])
| for c 3
| | y[i,c] = best[c]
)");
  EXPECT_THAT(text, HasSubstr(R"(
| for i1 12
| | for i2 3 vector
| | | best[i2] = select()"));
}

// A running maximum of four lines, over as many steps of each as `steps`.
std::string RunningMaximum(int64_t steps) {
  return ScheduledText(absl::Substitute(R"(kernel m
argument x f32[8,$0]
result y f32[8,$0]
for i 2
| local m f32[4] stack
| for l 4
| | m[l] = -inf
| for k $0
| | for l 4
| | | m[l] = maximum(m[l], x[4*i+l,k])
| | | y[4*i+l,k] = m[l]
)",
                                        steps));
}

TEST(ScheduleOfRows, TransposesBlocksOfRunningMaxima) {
  EXPECT_THAT(RunningMaximum(22), HasSubstr(R"(
| for i1 5
| | for i2 4 unrolled
| | | for i3 4 vector
| | | | m[i3] = maximum(m[i3], x[4*i0+i3,4*i1+i2])
| | | | y[4*i0+i3,4*i1+i2] = m[i3]
| for i1 2 unrolled
| | for i2 4 vector
)"));
}

TEST(ScheduleOfRows, TransposesRunningMaximaOfAnyLength) {
  for (int64_t steps : {1, 2, 3, 4, 5, 6, 8, 9, 10}) {
    SCOPED_TRACE(steps);
    EXPECT_THAT(RunningMaximum(steps), HasSubstr("4 vector"));
  }
}

// A product with few columns; `b` is the other factor, in the loops' variables.
std::string FewColumns(int64_t columns, const char* shape, const char* b) {
  return ScheduledText(absl::Substitute(R"(kernel m
argument a f32[2,13,70]
argument b f32[$1]
result c f32[2,13,$0]
for i 2
| for m 13
| | for n $0
| | | c[i,m,n] = 0.0
| | | for k 70
| | | | c[i,m,n] += a[i,m,k] * $2
)",
                                        columns, shape, b));
}

TEST(ScheduleOfRows, SumsProductsOfFewColumnsAlongTheRows) {
  // All columns of several rows at once.
  EXPECT_THAT(FewColumns(2, "2,2,70", "b[i,n,k]"), HasSubstr(R"(| | for i2 17
| | | for i3 2 unrolled
| | | | for i4 4 unrolled
| | | | | for i5 4 vector
| | | | | | c[i0,4*i1+i4,i3] += a[i0,4*i1+i4,4*i2+i5] * b[i0,i3,4*i2+i5]
)"));
}

TEST(ScheduleOfRows, TransposesFewColumnsForManyRows) {
  const std::string text = ScheduledText(R"(kernel m
argument a f32[2,50,270]
argument b f32[2,270,2]
result c f32[2,50,2]
for i 2
| for m 50
| | for n 2
| | | c[i,m,n] = 0.0
| | | for k 270
| | | | c[i,m,n] += a[i,m,k] * b[i,k,n]
)");
  EXPECT_THAT(text, HasSubstr("local b_copy f32[2,2,270]"));
  EXPECT_THAT(text, HasSubstr("c[i0,4*i1+i4,i3] += a[i0,4*i1+i4,4*i2+i5] * "
                              "b_copy[i0,i3,4*i2+i5]"));
}

TEST(ScheduleOfRows, SumsProductsOfFewNarrowColumnsAlongTheRows) {
  constexpr char kProduct[] = R"(kernel m
argument a bf16[13,$0]
argument b bf16[$1,$0]
result c f32[13,$1]
for m 13
| for n $1
| | c[m,n] = 0.0
| | for k $0
| | | c[m,n] += convert(f32, a[m,k]) * convert(f32, b[n,k])
)";
  Machine machine = SmallVectors(1);
  EXPECT_THAT(ScheduledText(absl::Substitute(kProduct, 70, 2), machine),
              ContainsRegex("vector\n[| ]*c\\[[^]]*\\] \\+= convert"));
  // Two adjacent steps in each lane, and more columns.
  machine.has_bf16_dot = true;
  for (int columns : {2, 4}) {
    const std::string text =
        ScheduledText(absl::Substitute(kProduct, 70, columns), machine);
    EXPECT_THAT(text, ContainsRegex("vector\n[| ]*c\\[[^]]*\\] \\+= .* \\+ "))
        << text;
    EXPECT_THAT(text, Not(HasSubstr("_copy"))) << text;
  }
  // An odd number of steps.
  EXPECT_THAT(ScheduledText(absl::Substitute(kProduct, 71, 2), machine),
              Not(HasSubstr(" + convert")));
}

TEST(ScheduleOfRows, InterleavesAsManyVectorsAsTheyAreApart) {
  EXPECT_THAT(ScheduledText(R"(kernel m
argument a f32[2,50]
result y f32[150]
for i 50
| y[3*i] = a[0,i]
| y[3*i+1] = a[1,i]
| y[3*i+2] = negate(a[0,i])
)"),
              HasSubstr("4 vector"));
}

TEST(ScheduleOfRows, SumsAlongTheLoopsAroundAreNoDotsOfRows) {
  ScheduledText(R"(kernel sums
argument a f32[4,64]
argument b f32[16,64]
result q f32[64,4]
result y f32[4,16]
for i 4
| for k 16
| | y[i,k] = 0.0
for s 64
| for i 4
| | q[s,i] = 0.0
| | for k 16
| | | y[i,k] += a[i,s] * b[k,s]
)");
}

TEST(ScheduleOfRows, ThreadsDoNotWriteToTheSameLines) {
  const std::string text = ScheduledText(R"(kernel products
argument x f32[900,80,2]
result y f32[900,80,2]
local p f32[900,2] heap
for i 900
| for j 2
| | p[i,j] = 1.0
| | for k 80
| | | p[i,j] = p[i,j] * x[i,k,j]
| | | y[i,k,j] = p[i,j]
)",
                                         SmallVectors(2));
  EXPECT_THAT(text, Not(HasSubstr("for i0 2 parallel"))) << text;
  EXPECT_THAT(text, HasSubstr(" parallel")) << text;
}

TEST(ScheduleOfRows, ThreadsShareAllPartsOfALongPad) {
  const std::string text = ScheduledText(R"(kernel pad
argument x f32[400000]
result y f32[800000]
for i 800000
| y[i] = where(0 <= i-200000 < 400000, x[i-200000], 0.0)
)",
                                         SmallVectors(2));
  EXPECT_THAT(text, Not(HasSubstr("where")));
  EXPECT_EQ(Count(text, "\nfor "), 3) << text;
  EXPECT_EQ(Count(text, " parallel\n"), 3) << text;
}

TEST(ScheduleOfRows, KeepsVectorsOfColumnsThatAreContiguousOrMany) {
  EXPECT_THAT(FewColumns(2, "2,70,2", "b[i,k,n]"),
              HasSubstr("for i4 2 vector"));
  EXPECT_THAT(FewColumns(12, "2,12,70", "b[i,n,k]"), HasSubstr("b_copy[i3,"));
}

// Lines of a few contiguous steps: blocks of lines and steps are transposed.
TEST(ScheduleOfRows, ScansShortLinesAsLanes) {
  const std::string text = ScheduledText(R"(kernel scan
argument x f32[64,6]
result y f32[64,6]
for i 4
| local s f32[16] stack
| for l 16
| | s[l] = 0.0
| for j 6
| | for l 16
| | | s[l] = s[l] + x[16*i+l,j]
| | | y[16*i+l,j] = s[l]
)");
  EXPECT_THAT(text, HasSubstr(R"(
| for i1 6 unrolled
| | for i2 16 vector
| | | s[i2] = s[i2] + x[16*i0+i2,i1]
)"));
}

TEST(ScheduleOfRows, PadsLongRowsWithoutConditions) {
  const std::string text = ScheduledText(R"(kernel m
argument x f32[2,1000]
result y f32[2,1400]
for i 2
| for j 1400
| | y[i,j] = where(0 <= j-200 < 1000, x[i,j-200], 0.0)
)");
  EXPECT_THAT(text, Not(HasSubstr("where")));
  EXPECT_THAT(text, HasSubstr("= x[i0,"));
}

TEST(ScheduleOfRows, PadsShortRowsWithMasks) {
  const std::string text = ScheduledText(R"(kernel m
argument x f32[2,1000]
result y f32[2,1002]
for i 2
| for j 1002
| | y[i,j] = where(0 <= j-1 < 1000, x[i,j-1], 0.0)
)");
  EXPECT_THAT(text, HasSubstr("where"));
}

TEST(ScheduleOfRows, SumsOfAFewVectorsMaskTheLast) {
  Machine machine = SmallVectors(1);
  machine.vector_bytes = 64;
  const std::string text = ScheduledText(R"(kernel s
argument x f32[3,60]
result y f32[3,60]
for i 3
| local s f32[] register
| s[] = 0.0
| for k 60
| | s[] += x[i,k] * x[i,k]
| for k 60
| | y[i,k] = x[i,k] * s[]
)",
                                         machine);
  EXPECT_THAT(text, HasSubstr(R"(
| for i1 4 unrolled
| | for i2 16 < 60-16*i1 vector
| | | s[] += x[i0,16*i1+i2] * x[i0,16*i1+i2]
)"));
}

// A softmax over rows of so many columns.
std::string Softmax(const std::string& type, int64_t columns) {
  return absl::Substitute(R"(kernel softmax
argument x $0[3,40,$1]
result y $0[3,40,$1]
local m $0[3,40] heap
local s f32[3,40] heap
for b 3
| for i 40
| | m[b,i] = $0(-inf)
| | for j $1
| | | m[b,i] max= x[b,i,j]
for b 3
| for i 40
| | s[b,i] = 0.0
| | for j $1
| | | s[b,i] += exponential(convert(f32, x[b,i,j] - m[b,i]))
for b 3
| for i 40
| | for j $1
| | | y[b,i,j] = convert($0, exponential(convert(f32, x[b,i,j] - m[b,i])) / s[b,i])
)",
                          type, columns);
}

// The nests share a loop over blocks of rows, inside the outer loop.
TEST(RowBlocks, SoftmaxHasThemByDefault) {
  Machine machine = SmallVectors(1);
  machine.l1_bytes = 3 * 16 * 61 * 2;
  const std::string text = ScheduledText(Softmax("bf16", 61), machine);
  EXPECT_THAT(text, HasSubstr("local m bf16[16] stack")) << text;
}

// Few rows are joined with the dimension around them.
TEST(RowBlocks, HaveRowsOfSeveralDimensions) {
  const std::string text = ScheduledText(
      absl::StrReplaceAll(Softmax("f32", 61), {{"f32[3,40", "f32[30,4"},
                                               {"for b 3", "for b 30"},
                                               {"for i 40", "for i 4"}}));
  EXPECT_THAT(text, HasSubstr("local m f32[32] stack")) << text;
}

TEST(RowBlocks, AreNotMadeOfLongOrShortRows) {
  Machine machine = SmallVectors(1);
  machine.l1_bytes = 8 * 61 * 2 - 1;
  EXPECT_EQ(RowBlocksFor(ParseText(Softmax("bf16", 61)), machine).rows, 1);
  EXPECT_EQ(RowBlocksFor(ParseText(Softmax("bf16", 9)), machine).rows, 1);
}

// Sums of products of f32 are fast.
TEST(RowBlocks, AreForSlowSums) {
  constexpr char kNorm[] = R"(kernel norm
argument x $0[64,100]
result y $0[64,100]
local s f32[64] heap
for i 64
| s[i] = 0.0
| for j 100
| | s[i] += convert(f32, x[i,j]) * convert(f32, x[i,j])
for i 64
| for j 100
| | y[i,j] = convert($0, convert(f32, x[i,j]) * rsqrt(s[i]))
)";
  const Machine machine = SmallVectors(1);
  EXPECT_EQ(
      RowBlocksFor(ParseText(absl::Substitute(kNorm, "bf16")), machine).rows,
      32);
  const std::string f32 = absl::StrReplaceAll(
      absl::Substitute(kNorm, "f32"), {{"convert(f32, x[i,j])", "x[i,j]"},
                                       {"convert(f32, x[i,j] ", "(x[i,j] "}});
  EXPECT_EQ(RowBlocksFor(ParseText(f32), machine).rows, 1);
}

}  // namespace
}  // namespace hone::loops
