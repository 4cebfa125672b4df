// The schedules of matrix products and convolutions.

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "loops/schedules/default_schedule.h"
#include "loops/text/text.h"
#include "tests/loops/program_text.h"
#include "tests/loops/random_program.h"
#include "tests/loops/schedules/scheduled_text.h"
#include "tests/loops/transforms/check_transform.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

using ::hone::testing::CheckSame;
using ::hone::testing::Count;
using ::hone::testing::Scheduled;
using ::hone::testing::ScheduledText;
using ::hone::testing::SmallVectors;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ContractionSchedule, InterleavedPanelsOfLessThanTwoVectorsAreVectors) {
  Machine machine = SmallVectors(1);
  machine.has_bf16_dot = true;
  HONE_ASSERT_OK_AND_ASSIGN(const Program program, ParseProgram(R"(kernel m
argument a bf16[60,32]
argument b bf16[32,12]
result c f32[60,12]
for i 60
| for j 12
| | c[i,j] = 0.0
| | for k 32
| | | c[i,j] += convert(f32, a[i,k]) * convert(f32, b[k,j])
)"));
  HONE_ASSERT_OK_AND_ASSIGN(const Program after, Scheduled(program, machine));
  EXPECT_EQ(CheckSame(program, after, /*exact=*/false, 1), absl::OkStatus());
  EXPECT_THAT(PrintProgram(after), HasSubstr("8 vector"))
      << PrintProgram(after);
}

TEST(ContractionSchedule, OneInterleavedPanelIsCopiedOnce) {
  Machine machine = SmallVectors(1);
  machine.has_bf16_dot = true;
  HONE_ASSERT_OK_AND_ASSIGN(const Program program, ParseProgram(R"(kernel m
argument a bf16[6,60,32]
argument b bf16[32,7]
result c f32[6,60,7]
for h 6
| for i 60
| | for j 7
| | | c[h,i,j] = 0.0
| | | for k 32
| | | | c[h,i,j] += convert(f32, a[h,i,k]) * convert(f32, b[k,j])
)"));
  HONE_ASSERT_OK_AND_ASSIGN(const Program after, Scheduled(program, machine));
  EXPECT_EQ(CheckSame(program, after, /*exact=*/false, 1), absl::OkStatus());
  // In whole vectors of pairs.
  EXPECT_THAT(PrintProgram(after),
              HasSubstr("\nlocal b_copy bf16[16,2,4,2] stack"));
}

TEST(ContractionSchedule, AFewStepsThatAreLeftOverAreNotASumOfTheirOwn) {
  Machine machine = SmallVectors(1);
  machine.has_bf16_dot = true;
  HONE_ASSERT_OK_AND_ASSIGN(const Program program, ParseProgram(R"(kernel m
argument a bf16[60,19]
argument b bf16[19,16]
result c f32[60,16]
for i 60
| for j 16
| | c[i,j] = 0.0
| | for k 19
| | | c[i,j] += convert(f32, a[i,k]) * convert(f32, b[k,j])
)"));
  HONE_ASSERT_OK_AND_ASSIGN(const Program after, Scheduled(program, machine));
  EXPECT_THAT(PrintProgram(after), Not(HasSubstr("\nfor i0 60\n| for i1 4\n"
                                                 "| | for i2 4 vector\n"
                                                 "| | | c[")));
  EXPECT_THAT(PrintProgram(after), Not(HasSubstr(",0]) + convert")));
}

// A step of zeros makes their number even.
TEST(ContractionSchedule, ShortSumsOfOddLengthArePadded) {
  Machine machine = SmallVectors(1);
  machine.has_bf16_dot = true;
  const auto scheduled = [&](int rows) {
    const absl::StatusOr<Program> program = ParseProgram(absl::Substitute(
        R"(kernel m
argument a bf16[$0,19]
argument b bf16[19,72]
result c f32[$0,72]
for i $0
| for j 72
| | c[i,j] = 0.0
| | for k 19
| | | c[i,j] += convert(f32, a[i,k]) * convert(f32, b[k,j])
)",
        rows));
    const absl::StatusOr<Program> after = Scheduled(*program, machine);
    EXPECT_EQ(CheckSame(*program, *after, /*exact=*/false, 1),
              absl::OkStatus());
    return PrintProgram(*after);
  };
  EXPECT_THAT(scheduled(60), HasSubstr("bf16[60,20]"));
  // Copies of both would not pay off.
  EXPECT_THAT(scheduled(20), Not(HasSubstr("bf16[20,20]")));
}

TEST(ContractionSchedule, ThreadsShareColumnsOfAMatrixOfFewRows) {
  // The last of 29, 24 and 25 tiles is not whole.
  for (const int64_t columns : {900, 750, 770}) {
    HONE_ASSERT_OK_AND_ASSIGN(const Program program,
                              ParseProgram(absl::Substitute(R"(kernel m
argument a f32[400]
argument b f32[400,$0]
result c f32[$0]
for j $0
| c[j] = 0.0
| for k 400
| | c[j] += a[k] * b[k,j]
)",
                                                            columns)));
    HONE_ASSERT_OK_AND_ASSIGN(const Program after,
                              Scheduled(program, SmallVectors(2)));
    EXPECT_THAT(PrintProgram(after), HasSubstr("for i0 2 parallel")) << columns;
    EXPECT_EQ(CheckSame(program, after, /*exact=*/false, 1), absl::OkStatus());
  }
}

TEST(ContractionSchedule, PanelsOfUnevenBlocksOfTheSumAreTransposed) {
  Machine machine = SmallVectors(1);
  machine.l2_bytes = 8192;
  HONE_ASSERT_OK_AND_ASSIGN(const Program program, ParseProgram(R"(kernel m
argument a f32[16,521]
argument b f32[16,521]
result c f32[16,16]
for i 16
| for j 16
| | c[i,j] = 0.0
| | for k 521
| | | c[i,j] += a[i,k] * b[j,k]
)"));
  HONE_ASSERT_OK_AND_ASSIGN(const Program after, Scheduled(program, machine));
  // Full blocks, and the last one, of which a few steps are left out.
  const std::string text = PrintProgram(after);
  EXPECT_THAT(text, HasSubstr("b_copy[4*i3+i4,i2,i5] = b["));
  EXPECT_THAT(text, HasSubstr("b_copy_1[4*i2+i3,i1,i4] = b["));
  EXPECT_EQ(CheckSame(program, after, /*exact=*/false, 1), absl::OkStatus());
}

TEST(ContractionSchedule, StepsOfSomeRowsFillL1) {
  const auto scheduled = [](int rows, int steps) {
    Machine machine = SmallVectors(1);
    machine.l1_bytes = 4096;
    machine.l2_bytes = 8192;
    const absl::StatusOr<Program> program =
        ParseProgram(absl::Substitute(R"(kernel m
argument a f32[$0,$1]
argument b f32[$1,300]
result c f32[$0,300]
for i $0
| for j 300
| | c[i,j] = 0.0
| | for k $1
| | | c[i,j] += a[i,k] * b[k,j]
)",
                                      rows, steps));
    HONE_EXPECT_OK(program);
    const absl::StatusOr<Program> after = Scheduled(*program, machine);
    EXPECT_EQ(CheckSame(*program, *after, /*exact=*/false, 1),
              absl::OkStatus());
    return PrintProgram(*after);
  };
  // A step of a tile takes 32 bytes. Short sums are taken at once, others in
  // equal blocks.
  EXPECT_THAT(scheduled(5, 40), HasSubstr("b[i1,8*i0+"));
  EXPECT_THAT(scheduled(5, 102), HasSubstr("b[51*i0+i"));
  EXPECT_THAT(scheduled(2, 102), HasSubstr("b[8*i0+i"));
}

TEST(ContractionSchedule, MatricesOfFewRowsAreReadAlong) {
  const std::string text = ScheduledText(R"(kernel m
argument a f32[40]
argument b f32[40,70]
result c f32[70]
for j 70
| c[j] = 0.0
| for k 40
| | c[j] += a[k] * b[k,j]
)");
  EXPECT_THAT(text, HasSubstr("a[8*i0+i2] * b[8*i0+i2,"));
}

TEST(ContractionSchedule, DepthwiseConvolutionsAskForTheBorderOnlyThere) {
  const std::string text = ScheduledText(R"(kernel m
argument x f32[4,31,9]
argument w f32[3,9]
result y f32[4,31,9]
for h 4
| for i 31
| | for c 9
| | | y[h,i,c] = 0.0
| | | for k 3
| | | | y[h,i,c] += where(0 <= i+k-1 < 31, x[h,i+k-1,c] * w[k,c], 0.0)
)");
  EXPECT_THAT(text, HasSubstr("f32[6,4] register"));
  EXPECT_THAT(text, HasSubstr("] += x["));
}

TEST(ContractionSchedule, RowsOfATileAreWholeVectors) {
  const std::string text = ScheduledText(R"(kernel m
argument x f32[12,40,7]
argument w f32[9,12]
result y f32[9,40,7]
for o 9
| for h 40
| | for i 7
| | | y[o,h,i] = 0.0
| | | for k 12
| | | | y[o,h,i] += w[o,k] * x[k,h,i]
)");
  EXPECT_THAT(text, HasSubstr("f32[5,7] register strides {8,1}"));
}

TEST(ContractionSchedule, TransposedOperandsAreRearrangedOnce) {
  const std::string text = ScheduledText(R"(kernel m
argument a f32[90,20]
argument b f32[8,20]
result y f32[90,8]
for i 90
| for j 8
| | y[i,j] = 0.0
| | for k 20
| | | y[i,j] += a[i,k] * b[j,k]
)");
  EXPECT_EQ(Count(text, "b_copy f32[20,2,4]"), 1) << text;
  EXPECT_THAT(text, Not(HasSubstr("\n| local b_copy")));
}

TEST(ContractionSchedule, OneOfTwoEqualOperandsIsRearranged) {
  const std::string after = ScheduledText(R"(kernel m
argument a f32[4,40,24]
result c f32[4,40,40]
for b 4
| for i 40
| | for j 40
| | | c[b,i,j] = 0.0
| | | for k 24
| | | | c[b,i,j] += a[b,i,k] * a[b,j,k]
)");
  EXPECT_THAT(after, HasSubstr("* a_copy[")) << after;
}

// The weight gradient of a convolution: the result is contiguous along three
// taps only.
TEST(ContractionSchedule, VectorsGoAlongTheLongSideOfAContraction) {
  const std::string text = ScheduledText(R"(kernel m
argument x f32[5,30,6]
argument g f32[8,30,4]
result y f32[8,5,3]
for i 5
| for k 3
| | for o 8
| | | y[o,i,k] = 0.0
| | | for h 30
| | | | for w 4
| | | | | y[o,i,k] += x[i,h,w+k] * g[o,h,w]
)");
  EXPECT_THAT(text, HasSubstr("g_copy f32[30,4,2,4]"));
  EXPECT_THAT(text, HasSubstr("f32[8,5] register strides {1,8}"));
}

// Elements of the columns would be 4 KiB apart in the result.
TEST(ContractionSchedule, VectorsGoAlongTheResultIfOthersConflictInTheCache) {
  const std::string text = ScheduledText(R"(kernel m
argument x f32[8,1024]
argument w f32[16,8]
result y f32[16,1024]
for i 1024
| for o 16
| | y[o,i] = 0.0
| | for k 8
| | | y[o,i] += x[k,i] * w[o,k]
)");
  EXPECT_THAT(text, HasSubstr("y[6*i1+i2,8*i0+4*i3+i4]"));
}

// Vectors along the rows would save copies, and read the other matrix down its
// columns.
TEST(ContractionSchedule, MatricesThatNoCacheHoldsAreReadAlongTheirRows) {
  const std::string product = R"(kernel m
argument a f32[20,128]
argument b f32[128,200]
result c f32[20,200]
for i 20
| for j 200
| | c[i,j] = 0.0
| | for k 128
| | | c[i,j] += a[i,k] * b[k,j]
)";
  Machine machine = SmallVectors(1);
  EXPECT_THAT(ScheduledText(product, machine), HasSubstr("a_copy"));
  machine.l2_bytes = 16 << 10;
  EXPECT_THAT(ScheduledText(product, machine), HasSubstr("b_copy"));
}

TEST(ContractionSchedule, TilesOfFewRowsAreOfEqualSize) {
  const std::string text = ScheduledText(R"(kernel m
argument a f32[14,40]
argument b f32[40,8]
result c f32[14,8]
for i 14
| for j 8
| | c[i,j] = 0.0
| | for k 40
| | | c[i,j] += a[i,k] * b[k,j]
)");
  EXPECT_THAT(text, HasSubstr("f32[5,8] register"));
}

TEST(ContractionSchedule, TilesOfOneVectorHaveMoreRows) {
  const auto text = [](int rows) {
    return ScheduledText(absl::Substitute(R"(kernel m
argument a f32[$0,40]
argument b f32[40,4]
result c f32[$0,4]
for i $0
| for j 4
| | c[i,j] = 0.0
| | for k 40
| | | c[i,j] += a[i,k] * b[k,j]
)",
                                          rows));
  };
  EXPECT_THAT(text(120), HasSubstr("f32[12,4] register"));
  EXPECT_THAT(text(20), HasSubstr("f32[10,4] register"));
  EXPECT_THAT(text(14), HasSubstr("f32[7,4] register"));
}

TEST(ContractionSchedule, OperandsThatServeOneTileOfColumnsAreReadInPlace) {
  Machine machine = SmallVectors(1);
  machine.l2_bytes = 4096;
  const std::string text = ScheduledText(R"(kernel m
argument a f32[40,300]
argument b f32[40,4]
result c f32[300,4]
for i 300
| for j 4
| | c[i,j] = 0.0
| | for k 40
| | | c[i,j] += a[k,i] * b[k,j]
)",
                                         machine);
  EXPECT_THAT(text, Not(HasSubstr("a_copy")));
}

TEST(ContractionSchedule, WindowsWithStridesAreReadAlongTheirRows) {
  // The gradient of a kernel; the image x is read two elements apart.
  Machine machine = SmallVectors(1);
  machine.l2_bytes = 8192;
  const std::string text = ScheduledText(R"(kernel m
argument x f32[13,49,49]
argument g f32[16,24,24]
result w f32[16,13]
for o 16
| for c 13
| | w[o,c] = 0.0
| | for h 24
| | | for v 24
| | | | w[o,c] += x[c,2*h,2*v] * g[o,h,v]
)",
                                         machine);
  EXPECT_THAT(text, HasSubstr("g_copy"));
}

TEST(ContractionSchedule, RowsOfDepthwiseTilesShareWhatTheyLoad) {
  const std::string text = ScheduledText(R"(kernel m
argument x f32[3,10,18]
argument w f32[3,3,3]
result y f32[3,8,16]
for c 3
| for h 8
| | for i 16
| | | y[c,h,i] = 0.0
| | | for k 3
| | | | for l 3
| | | | | y[c,h,i] += x[c,h+k,i+l] * w[c,k,l]
)");
  // The taps along the rows are unrolled around the rows.
  EXPECT_THAT(text, HasSubstr("y_local[i5,4*i6+i7] += "
                              "x[i0,4*i2+i4+i5,8*i1+i3+4*i6+i7] * w[i0,i4,i3]"))
      << text;
}

TEST(ContractionSchedule, NarrowConvolutionsReadPaddedInputs) {
  const std::string text = ScheduledText(R"(kernel m
argument x bf16[31,9]
argument w bf16[3,9,8]
result y bf16[31,8]
local s f32[31,8] heap
for i 31
| for o 8
| | s[i,o] = 0.0
| | for k 3
| | | for c 9
| | | | s[i,o] += convert(f32, where(0 <= i+k-1 < 31, x[i+k-1,c], bf16(0))) * convert(f32, w[k,c,o])
for i 31
| for o 8
| | y[i,o] = convert(bf16, s[i,o])
)");
  EXPECT_THAT(text, HasSubstr("f32[6,8] register"));
  EXPECT_THAT(text, HasSubstr("] += convert(f32, x_copy["));
}

TEST(ContractionSchedule, PanelsOfMatricesLargerThanL1ArePrefetched) {
  const std::string text = R"(kernel m
argument a f32[24,64]
argument b f32[64,96]
result c f32[24,96]
for i 24
| for j 96
| | c[i,j] = 0.0
| | for k 64
| | | c[i,j] += a[i,k] * b[k,j]
)";
  Machine machine = SmallVectors(1);
  machine.l1_bytes = 16 << 10;
  machine.l2_bytes = 16 << 10;
  EXPECT_THAT(ScheduledText(text, machine), HasSubstr("64 prefetch 16\n"));
  machine.l1_bytes = 32 << 10;
  EXPECT_THAT(ScheduledText(text, machine), Not(HasSubstr("prefetch")));
}

TEST(ContractionSchedule, MatricesInCachesAreReadInPlace) {
  // Whole sums are in registers; 24 rows would be worth panels.
  const std::string text = R"(kernel m
argument a f32[24,64]
argument b f32[64,96]
result c f32[24,96]
for i 24
| for j 96
| | c[i,j] = 0.0
| | for k 64
| | | c[i,j] += a[i,k] * b[k,j]
)";
  HONE_ASSERT_OK_AND_ASSIGN(const Program program, ParseProgram(text));
  Machine machine = SmallVectors(1);
  machine.l2_bytes = 32 << 10;
  HONE_ASSERT_OK_AND_ASSIGN(const Program after, Scheduled(program, machine));
  EXPECT_THAT(PrintProgram(after), HasSubstr("for i2 64\n"));
  EXPECT_THAT(PrintProgram(after), Not(HasSubstr("b_copy")));
  EXPECT_EQ(CheckSame(program, after, /*exact=*/false, 1), absl::OkStatus());
  // A cache does not hold the matrix, or rows make up for its copy.
  machine.l2_bytes = 20 << 10;
  EXPECT_THAT(ScheduledText(text, machine), HasSubstr("b_copy"));
  machine.l2_bytes = 64 << 10;
  EXPECT_THAT(ScheduledText(absl::StrReplaceAll(text, {{"24", "48"}}), machine),
              HasSubstr("b_copy"));
  // A part of a vector would be at the end of each row.
  EXPECT_THAT(ScheduledText(absl::StrReplaceAll(text, {{"96", "94"}}), machine),
              HasSubstr("b_copy"));
}

TEST(ContractionSchedule, ColumnsReadInPlaceServeAllRows) {
  Machine machine = SmallVectors(1);
  machine.l2_bytes = 32 << 10;
  const std::string text = ScheduledText(R"(kernel m
argument a f32[2,12,64]
argument b f32[64,96]
result c f32[2,12,96]
for h 2
| for i 12
| | for j 96
| | | c[h,i,j] = 0.0
| | | for k 64
| | | | c[h,i,j] += a[h,i,k] * b[k,j]
)",
                                         machine);
  EXPECT_THAT(text, HasSubstr("for i0 12\n| for i1 2\n| | for i2 2\n"));
}

TEST(ContractionSchedule, BlocksOfColumnsAreReadInPlace) {
  // From memory, as each is read from its first to its last byte.
  Machine machine = SmallVectors(1);
  machine.l2_bytes = 8 << 10;
  const std::string text = ScheduledText(R"(kernel m
argument a f32[24,64]
argument b f32[12,64,8]
result c f32[24,12,8]
for i 24
| for n 12
| | for j 8
| | | c[i,n,j] = 0.0
| | | for k 64
| | | | c[i,n,j] += a[i,k] * b[n,k,j]
)",
                                         machine);
  EXPECT_THAT(text, Not(HasSubstr("b_copy")));
  EXPECT_THAT(text, HasSubstr("for i2 64\n"));
}

TEST(ContractionSchedule, TilesHaveAllColumnsOfABlock) {
  // Four vectors: rows are as many as registers allow.
  const std::string text = ScheduledText(R"(kernel m
argument a f32[8,64]
argument b f32[6,64,16]
result c f32[8,6,16]
for i 8
| for n 6
| | for j 16
| | | c[i,n,j] = 0.0
| | | for k 64
| | | | c[i,n,j] += a[i,k] * b[n,k,j]
)",
                                         SmallVectors(1));
  EXPECT_THAT(text, HasSubstr("f32[2,16] register"));
}

TEST(ContractionSchedule, LongMatricesAreReadOncePastPanelsOfTheOther) {
  Machine machine = SmallVectors(1);
  machine.l2_bytes = 16 << 10;
  const std::string text = ScheduledText(R"(kernel m
argument a f32[200,64]
argument b f32[64,16]
result c f32[200,16]
for i 200
| for j 16
| | c[i,j] = 0.0
| | for k 64
| | | c[i,j] += a[i,k] * b[k,j]
)",
                                         machine);
  EXPECT_THAT(text, HasSubstr("\nlocal b_copy f32[2,64,2,4]"));
  EXPECT_THAT(text, HasSubstr("for i0 33\n| for i1 2\n"));
}

// A panel of a matrix that is contiguous along the sum: blocks of 16 pairs of
// steps, and 5 that are left.
TEST(ContractionSchedule, PairsOfStepsAreTransposedByBlocks) {
  Machine machine = SmallVectors(1);
  machine.vector_bytes = 64;
  machine.vector_registers = 32;
  machine.has_bf16_dot = true;
  const std::string text = ScheduledText(R"(kernel m
argument a bf16[21,74]
argument b bf16[64,74]
result c f32[21,64]
for m 21
| for n 64
| | c[m,n] = 0.0
| | for k 74
| | | c[m,n] += convert(f32, a[m,k]) * convert(f32, b[n,k])
)",
                                         machine);
  for (const char* pairs : {"16", "5"}) {
    EXPECT_THAT(text,
                ContainsRegex(absl::StrCat("for i[0-9]* ", pairs,
                                           " unrolled\n[| ]*for i[0-9]* 16 "
                                           "vector\n[| ]*b_copy.*0\\] = b")))
        << text;
  }
}

// As in gradients of weights: the vectors of the result are strided.
TEST(ContractionSchedule, SingleTilesAreInRegisters) {
  for (const char* type : {"f32", "bf16"}) {
    const std::string text = ScheduledText(absl::StrReplaceAll(
        R"(kernel g
argument a TYPE[500,4]
argument b TYPE[500,3]
result c TYPE[4,3]
local s f32[4,3] heap
for m 4
| for n 3
| | s[m,n] = 0.0
| | for k 500
| | | s[m,n] += convert(f32, a[k,m]) * convert(f32, b[k,n])
for m 4
| for n 3
| | c[m,n] = convert(TYPE, s[m,n])
)",
        {{"TYPE", type}}));
    EXPECT_THAT(text, HasSubstr("f32[4,3] register strides {1,4}")) << text;
  }
}

TEST(ContractionSchedule, SingleTilesMayBeBesideStatementsInNoLoop) {
  EXPECT_THAT(ScheduledText(R"(kernel g
argument a f32[500,4]
argument b f32[500,3]
result c f32[4,3]
result d f32[]
local s f32[4,3] heap
d[] = 1.0
for m 4
| for n 3
| | s[m,n] = 0.0
| | for k 500
| | | s[m,n] += a[k,m] * b[k,n]
for m 4
| for n 3
| | c[m,n] = s[m,n]
)"),
              HasSubstr("f32[4,3] register"));
}

}  // namespace
}  // namespace hone::loops
