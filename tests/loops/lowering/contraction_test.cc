#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "loops/lowering/lowering.h"
#include "loops/text/text.h"
#include "tests/loops/lowering/lowered.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(LowerDot, AnyDimensionNumbers) {
  for (const char* type : {"f32", "bf16", "f64", "s32"}) {
    SCOPED_TRACE(type);
    ExpectLowersRight(absl::StrReplaceAll(ModuleText(R"(
  a = TYPE[5,3,7,2] parameter(0)
  b = TYPE[2,4,5,7] parameter(1)
  v = TYPE[7] parameter(2)
  d = TYPE[5,3,4] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={2}, lhs_contracting_dims={3,2}, rhs_contracting_dims={0,3}
  e = TYPE[5,3,2] dot(a, v), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  f = TYPE[7,7] dot(v, v), lhs_contracting_dims={}, rhs_contracting_dims={}
  ROOT t = (TYPE[5,3,4], TYPE[5,3,2], TYPE[7,7]) tuple(d, e, f))"),
                                          {{"TYPE", type}}));
  }
}

TEST(LowerDot, OperandsAreOnlyReindexedOnTheWay) {
  const Program program = ExpectLowersRight(ModuleText(R"(
  a = f32[6,5] parameter(0)
  b = f32[2,5,3] parameter(1)
  at = f32[5,6] transpose(a), dimensions={1,0}
  br = f32[5,3,2] transpose(b), dimensions={1,2,0}
  bm = f32[5,6] reshape(br)
  n = f32[5,6] negate(bm)
  d = f32[6,6] dot(at, bm), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  e = f32[6,6] dot(at, n), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT s = f32[6,6] subtract(d, e))"));
  // The negated operand and both products.
  EXPECT_EQ(CountLocalArrays(program), 3);
}

TEST(LowerDot, IsWrittenTransposed) {
  const Program program = ExpectLowersRight(ModuleText(R"(
  a = f32[2,3,6,5] parameter(0)
  b = f32[2,3,5,4] parameter(1)
  d = f32[2,3,6,4] dot(a, b), lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_contracting_dims={2}
  s = f32[2,6,3,4] transpose(d), dimensions={0,2,1,3}
  e = f32[2,3,6,4] dot(a, b), lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_contracting_dims={2}
  t = f32[4,2,3,6] transpose(e), dimensions={3,0,1,2}
  n = f32[4,2,3,6] negate(t)
  ROOT r = (f32[2,6,3,4], f32[4,2,3,6]) tuple(s, n))"));
  // The second transpose alone: the first is a result.
  EXPECT_EQ(CountLocalArrays(program), 1);
}

TEST(LowerDot, IsStoredAsItIsForOthers) {
  // Another reader, a dot that reads it re-indexed, and neighbors of different
  // batches.
  const ModulePlan plan = ExpectPlansRight(ModuleText(R"(
  a = f32[3,5,5] parameter(0)
  d = f32[3,5,5] dot(a, a), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}
  t = f32[3,5,5] transpose(d), dimensions={0,2,1}
  e = f32[3,5,5] dot(a, d), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  u = f32[5,3,5] transpose(e), dimensions={1,0,2}
  f = f32[3,5,5] dot(a, u), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={0}
  v = f32[5,5,3] transpose(f), dimensions={1,2,0}
  ROOT r = (f32[3,5,5], f32[5,5,3]) tuple(t, v))"));
  // Three dots, and the transposes that are results.
  EXPECT_EQ(plan.functions[static_cast<size_t>(plan.entry)].steps.size(), 5u);
}

TEST(LowerDot, NarrowOperandsOfAWideResult) {
  ExpectLowersRight(ModuleText(R"(
  a = bf16[3,9] parameter(0)
  b = bf16[9,4] parameter(1)
  ROOT d = f32[3,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0})"));
}

TEST(LowerDot, NarrowSumsAreWideUntilTheEnd) {
  const Program program = ExpectLowersRight(ModuleText(R"(
  a = bf16[2,3,6] parameter(0)
  b = bf16[2,6,4] parameter(1)
  d = bf16[2,3,4] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  t = bf16[2,4,3] transpose(d), dimensions={0,2,1}
  n = bf16[2,4,3] negate(t)
  ROOT u = bf16[2,4,3] exponential(n))"));
  // The transposed product alone; nothing else is between it and the result.
  EXPECT_EQ(CountLocalArrays(program), 1);
  for (const BufferPtr& buffer : program.buffers()) {
    if (!buffer->IsLocal()) continue;
    EXPECT_EQ(buffer->type, hlo::ElementType::kF32) << buffer->name;
  }
}

TEST(LowerConvolution, StridesPaddingAndDilation) {
  const std::pair<const char*, const char*> cases[] = {
      {"size=3x2", "2,5,4,6"},
      {"size=3x2 stride=2x3 pad=1_1x0_2", "2,4,2,6"},
      {"size=3x2 pad=2_2x1_1 rhs_dilate=2x3", "2,7,4,6"},
      {"size=3x2 stride=1x2 pad=2_1x-1_1 lhs_dilate=2x3", "2,14,6,6"},
      {"size=3x2 stride=3x1 pad=0_1x1_0 lhs_dilate=2x2 rhs_dilate=1x2 "
       "rhs_reversal=1x1",
       "2,4,8,6"},
  };
  for (const auto& [window, dimensions] : cases) {
    SCOPED_TRACE(window);
    ExpectLowersRight(
        absl::StrReplaceAll(ModuleText(R"(
  x = f32[2,7,5,4] parameter(0)
  w = f32[3,2,4,6] parameter(1)
  ROOT c = f32[OUT] convolution(x, w), window={WINDOW}, dim_labels=b01f_01io->b01f)"),
                            {{"WINDOW", window}, {"OUT", dimensions}}));
  }
}

// One nest of zeros, and one for the positions that read something.
TEST(LowerConvolution, MostlyZeroResults) {
  const Program program = ExpectLowersRight(ModuleText(R"(
  x = f32[2,3,2,4] parameter(0)
  w = f32[1,1,4,6] parameter(1)
  ROOT c = f32[2,9,5,6] convolution(x, w), window={size=1x1 lhs_dilate=4x4}, dim_labels=b01f_01io->b01f)"));
  EXPECT_EQ(program.body().size(), 2u);
}

// Patches that do not overlap, ones that do, and a dilated window.
TEST(LowerConvolution, ManyPhasesAreOneNest) {
  for (const auto& [sizes, window, result] :
       {std::tuple("10,10", "size=10x10 pad=9_9x9_9 lhs_dilate=10x10", "30,20"),
        {"12,11", "size=12x11 pad=11_12x10_10 lhs_dilate=9x9", "31,20"},
        {"3,2",
         "size=3x2 pad=4_4x2_3 lhs_dilate=9x9 rhs_dilate=2x2 "
         "rhs_reversal=1x0",
         "23,13"}}) {
    SCOPED_TRACE(window);
    const Program program = ExpectLowersRight(absl::StrReplaceAll(
        ModuleText(R"(
  x = f32[2,3,2,4] parameter(0)
  w = f32[SIZES,2,6] parameter(1)
  ROOT c = f32[2,RESULT,6] convolution(x, w), window={WINDOW}, dim_labels=b01f_01io->b01f, feature_group_count=2)"),
        {{"SIZES", sizes}, {"WINDOW", window}, {"RESULT", result}}));
    EXPECT_EQ(program.body().size(), 2u);
  }
}

// The result of one nest is a part of what that computes: phases that crop are
// no nests of their own, however many there are.
TEST(LowerConvolution, ManyPhasesThatCropAreASlice) {
  for (const auto& [sizes, window, result] :
       {std::tuple("2,2", "size=2x2 lhs_dilate=60x60", "120,60"),
        // Rows that bear on nothing; padding beyond the window.
        {"3,2", "size=3x2 pad=-13_4x7_4 lhs_dilate=9x9 rhs_dilate=2x1", "6,20"},
        // A stride, a reversed window, input on one side only.
        {"3,2",
         "size=3x2 pad=2_-10x-1_8 stride=2x1 lhs_dilate=20x9 "
         "rhs_reversal=1x0",
         "16,16"},
        // Nothing but holes.
        {"1,1", "size=1x1 pad=-1_-30x-1_-5 lhs_dilate=20x9", "10,4"}}) {
    SCOPED_TRACE(window);
    const Program program = ExpectLowersRight(absl::StrReplaceAll(
        ModuleText(R"(
  x = f32[2,3,2,4] parameter(0)
  w = f32[SIZES,2,6] parameter(1)
  ROOT c = f32[2,RESULT,6] convolution(x, w), window={WINDOW}, dim_labels=b01f_01io->b01f, feature_group_count=2)"),
        {{"SIZES", sizes}, {"WINDOW", window}, {"RESULT", result}}));
    EXPECT_LE(program.body().size(), 3u);
  }
}

// Weights that several phases read are copied in the order of their use.
TEST(LowerConvolution, RearrangesWeightsOfSeveralPhases) {
  const auto lowered = [](const char* window, const char* result) {
    return PrintProgram(ExpectLowersRight(absl::StrReplaceAll(
        ModuleText(R"(
  x = f32[2,4,5,3] parameter(0)
  w = f32[6,4,SIZE] parameter(1)
  ROOT c = f32[2,6,RESULT] convolution(x, w), window={size=WINDOW lhs_dilate=2x2}, dim_labels=bf01_oi01->bf01)"),
        {{"SIZE", absl::StrReplaceAll(window, {{"x", ","}})},
         {"WINDOW", window},
         {"RESULT", result}})));
  };
  EXPECT_THAT(lowered("1x1", "9,5"), Not(HasSubstr("rearranged")));
  EXPECT_THAT(lowered("2x2", "8,4"),
              HasSubstr("local rearranged f32[2,2,4,6]"));
}

// Results that are contiguous along a dilated dimension, as in NCHW.
TEST(LowerConvolution, InterleavesPhases) {
  for (const char* type : {"f32", "bf16"}) {
    for (const auto& [sizes, window, result] :
         {std::tuple("3,2", "size=3x2 pad=2_2x1_1 lhs_dilate=2x2", "7,10"),
          {"3,5", "size=3x5 pad=2_1x4_3 lhs_dilate=2x3", "6,16"},
          // Some rows, and some elements of the others, are zero.
          {"1,1", "size=1x1 lhs_dilate=2x2", "5,9"},
          {"1,2", "size=1x2 pad=0_0x1_1 lhs_dilate=3x4", "7,18"},
          // One phase per row; a stride and a reversed, dilated window.
          {"3,2", "size=3x2 stride=1x2 pad=2_2x1_1 lhs_dilate=2x2", "7,5"},
          {"2,3",
           "size=2x3 pad=1_1x3_3 lhs_dilate=1x2 rhs_dilate=1x3 "
           "rhs_reversal=1x1",
           "4,9"}}) {
      SCOPED_TRACE(window);
      const Program program =
          ExpectLowersRight(absl::StrReplaceAll(ModuleText(R"(
  x = TYPE[2,4,3,5] parameter(0)
  w = TYPE[6,2,SIZES] parameter(1)
  ROOT c = TYPE[2,6,RESULT] convolution(x, w), window={WINDOW}, dim_labels=bf01_oi01->bf01, feature_group_count=2)"),
                                                {{"TYPE", type},
                                                 {"SIZES", sizes},
                                                 {"WINDOW", window},
                                                 {"RESULT", result}}));
      const bool has_one_phase_per_row =
          absl::string_view(window).find("stride=1x2") != std::string::npos;
      EXPECT_EQ(PrintProgram(program).find("local phase") == std::string::npos,
                has_one_phase_per_row);
    }
  }
}

TEST(LowerConvolution, InterleavesPhasesInBlocks) {
  for (const char* features : {"3", "100"}) {
    const Program program =
        ExpectLowersRight(absl::StrReplaceAll(ModuleText(R"(
  x = bf16[1,1,20,37] parameter(0)
  w = bf16[FEATURES,1,2,2] parameter(1)
  ROOT c = bf16[1,FEATURES,40,74] convolution(x, w), window={size=2x2 pad=1_1x1_1 lhs_dilate=2x2}, dim_labels=bf01_oi01->bf01)"),
                                              {{"FEATURES", features}}));
    // All rows of a phase, or one row of 100 features.
    for (const BufferPtr& buffer : program.buffers()) {
      if (!buffer->IsLocal() || buffer->type != hlo::ElementType::kF32)
        continue;
      EXPECT_LE(buffer->allocated_bytes(), 16 << 10) << buffer->name;
    }
  }
}

// Elements that only the first phase has do not share a nest with the others.
TEST(LowerConvolution, LastElementsOfAPhaseAreStoredBeforeTheNextPhase) {
  const std::string text = PrintProgram(ExpectLowersRight(ModuleText(R"(
  x = f32[1,2,5] parameter(0)
  w = f32[3,2,3] parameter(1)
  ROOT c = f32[1,3,9] convolution(x, w), window={size=3 pad=1_1 lhs_dilate=2}, dim_labels=bf0_oi0->bf0)")));
  EXPECT_LT(text.find("= phase["), text.find("phase_1[")) << text;
}

// Each phase of a result that is narrower than its sums converts them itself.
TEST(LowerConvolution, PhasesAreWideUntilTheirEnd) {
  const Program program = ExpectLowersRight(ModuleText(R"(
  x = bf16[2,3,2,4] parameter(0)
  w = bf16[3,3,4,6] parameter(1)
  c = bf16[2,7,5,6] convolution(x, w), window={size=3x3 pad=2_2x2_2 lhs_dilate=2x2}, dim_labels=b01f_01io->b01f
  ROOT n = bf16[2,7,5,6] negate(c))"));
  int64_t wide = 0;
  for (const BufferPtr& buffer : program.buffers()) {
    if (buffer->IsLocal() && buffer->type == hlo::ElementType::kF32 &&
        buffer->allocated_elements() > 1) {
      ++wide;
      EXPECT_LE(buffer->allocated_elements(), 2 * 4 * 3 * 6) << buffer->name;
    }
  }
  EXPECT_EQ(wide, 4);
}

TEST(LowerConvolution, RefusesMorePhasesOfNothing) {
  EXPECT_THAT(LowerToProgram(ParseModule(ModuleText(R"(
  x = f32[1,0,2,4] parameter(0)
  w = f32[2,2,4,6] parameter(1)
  ROOT c = f32[1,120,60,6] convolution(x, w), window={size=2x2 pad=60_61x0_0 lhs_dilate=60x60}, dim_labels=b01f_01io->b01f)"))),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("'c': its base dilation has 3600 phases")));
}

TEST(LowerConvolution, Groups) {
  ExpectLowersRight(ModuleText(R"(
  x = f32[6,4,5] parameter(0)
  w = f32[2,6,3] parameter(1)
  v = f32[4,6,3] parameter(2)
  c = f32[6,6,3] convolution(x, w), window={size=3}, dim_labels=bf0_io0->bf0, feature_group_count=2
  d = f32[2,6,3] convolution(x, v), window={size=3}, dim_labels=bf0_io0->bf0, batch_group_count=3
  ROOT t = (f32[6,6,3], f32[2,6,3]) tuple(c, d))"));
}

// Padding is multiplied by them, but in front of a dilated base it is left out.
TEST(LowerConvolution, InfiniteWeights) {
  ExpectLowersRight(ModuleText(R"(
  x = f32[2,5,2] parameter(0)
  w = f32[3,2,2] constant({{{inf, 1}, {1, 1}}, {{1, 1}, {1, 1}}, {{1, 1}, {1, -inf}}})
  v = f32[3,1,2] constant({{{inf, 1}}, {{1, 1}}, {{1, -inf}}})
  a = f32[2,5,2] convolution(x, w), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f
  b = f32[2,5,2] convolution(x, v), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f, feature_group_count=2
  c = f32[1,5,2] convolution(x, w), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f, batch_group_count=2
  d = f32[2,9,2] convolution(x, w), window={size=3 pad=1_1 lhs_dilate=2}, dim_labels=b0f_0io->b0f
  e = f32[2,9,2] convolution(x, v), window={size=3 pad=1_1 lhs_dilate=2}, dim_labels=b0f_0io->b0f, feature_group_count=2
  ROOT t = (f32[2,5,2], f32[2,5,2], f32[1,5,2], f32[2,9,2], f32[2,9,2]) tuple(a, b, c, d, e))"));
}

TEST(LowerConvolution, InfiniteWeightsOfPhases) {
  for (const char* type : {"f32", "bf16"}) {
    for (const char* labels : {"bf0_io0->bf0", "bf0_io0->b0f"}) {
      ExpectLowersRight(absl::StrReplaceAll(
          ModuleText(R"(
  x = TYPE[2,2,5] parameter(0)
  w = TYPE[2,2,3] constant({{{inf, 1, 1}, {1, 1, 1}}, {{1, 1, 1}, {1, 1, -inf}}})
  ROOT c = TYPE[RESULT] convolution(x, w), window={size=3 pad=1_1 lhs_dilate=2}, dim_labels=LABELS)"),
          {{"TYPE", type},
           {"LABELS", labels},
           {"RESULT", labels[10] == 'f' ? "2,2,9" : "2,9,2"}}));
    }
  }
}

TEST(LowerConvolution, OtherLabelsAndTypes) {
  ExpectLowersRight(ModuleText(R"(
  x = bf16[5,4,2,7] parameter(0)
  w = bf16[6,3,4,2] parameter(1)
  y = f32[3,4] parameter(2)
  k = f32[4,5] parameter(3)
  c = bf16[6,4,2,7] convolution(x, w), window={size=2x3 pad=0_0x1_1}, dim_labels=0fb1_o1i0->f0b1
  p = f32[3,5] convolution(y, k), dim_labels=bf_io->bf
  ROOT t = (bf16[6,4,2,7], f32[3,5]) tuple(c, p))"));
}

}  // namespace
}  // namespace hone::loops
