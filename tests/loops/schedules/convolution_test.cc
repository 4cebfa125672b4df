// The schedules of convolutions whose images are NCHW, or have odd numbers of
// channels.

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "loops/transforms/machine.h"
#include "tests/loops/schedules/scheduled_text.h"

namespace hone::loops {
namespace {

using ::hone::testing::ScheduledText;
using ::hone::testing::SmallVectors;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// A convolution of an NCHW image; `$0` channels.
constexpr char kNchwConvolution[] = R"(kernel c
argument x bf16[4,$0,10,16]
argument w bf16[12,$0,3,3]
result y bf16[4,12,10,16]
local s f32[4,12,10,16] heap
for n 4
| for i 10
| | for j 16
| | | for f 12
| | | | s[n,f,i,j] = 0.0
| | | | for k 3
| | | | | for l 3
| | | | | | for c $0
| | | | | | | s[n,f,i,j] += convert(f32, where(0 <= i+k-1 < 10 and 0 <= j+l-1 < 16, x[n,c,i+k-1,j+l-1], bf16(0.0))) * convert(f32, w[f,c,k,l])
for n 4
| for f 12
| | for i 10
| | | for j 16
| | | | y[n,f,i,j] = convert(bf16, s[n,f,i,j])
)";

// Two products per instruction: those of two channels, as the window has three
// columns.
TEST(ConvolutionSchedule, ConvolutionsWithOddWindowsPairChannels) {
  Machine machine = SmallVectors(1);
  machine.has_bf16_dot = true;
  // Five channels get a sixth one of zeros.
  for (const char* channels : {"6", "5"}) {
    const std::string text =
        ScheduledText(absl::Substitute(kNchwConvolution, channels), machine);
    EXPECT_THAT(text, HasSubstr("x_copy bf16[4,3,12,18,2]"));
    // Both channels of a pair are in one statement, in each operand.
    EXPECT_THAT(text, ContainsRegex("x_copy\\[[^]]*,0\\].*x_copy\\[[^]]*,1\\]"))
        << text;
    EXPECT_THAT(text, ContainsRegex("w_copy[a-z_]*\\[[^]]*,0\\].*"
                                    "w_copy[a-z_]*\\[[^]]*,1\\]"))
        << text;
    // The image is copied in vectors.
    EXPECT_THAT(text, ContainsRegex("vector\n[| ]*x_copy\\[[^]]*,0\\] = "))
        << text;
  }
}

// The weights are contiguous along the window.
TEST(ConvolutionSchedule, PairsOfChannelsAreTransposedByBlocks) {
  Machine machine = SmallVectors(1);
  machine.has_bf16_dot = true;
  const std::string text =
      ScheduledText(absl::Substitute(kNchwConvolution, "6"), machine);
  EXPECT_THAT(text,
              ContainsRegex("for i[0-9]* 9 unrolled\n[| ]*for i[0-9]* 12 "
                            "vector\n[| ]*w_copy.* = w@.*\n.*w_copy.* = w@"))
      << text;
}

// Panels of 16 features, the last of which has 7.
TEST(ConvolutionSchedule, PanelsOfPairsAreTransposedByBlocks) {
  Machine machine = SmallVectors(1);
  machine.has_bf16_dot = true;
  machine.vector_bytes = 64;
  machine.vector_registers = 32;
  const std::string text = ScheduledText(R"(kernel c
argument x bf16[4,6,10,5]
argument w bf16[71,6,3,3]
result y f32[4,71,8,3]
for n 4
| for i 8
| | for j 3
| | | for f 71
| | | | y[n,f,i,j] = 0.0
| | | | for k 3
| | | | | for l 3
| | | | | | for c 6
| | | | | | | y[n,f,i,j] += convert(f32, x[n,c,i+k,j+l]) * convert(f32, w[f,c,k,l])
)",
                                         machine);
  EXPECT_THAT(text,
              ContainsRegex("for i[0-9]* 9 unrolled\n[| ]*for i[0-9]* 16 "
                            "vector\n[| ]*w_copy.* = w@.*\n.*w_copy.* = w@"))
      << text;
  EXPECT_THAT(text, HasSubstr("for i2 7 vector")) << text;
}

// As of two phases of a dilated image: both sums read the copy that is laid out
// in blocks of channels.
TEST(ConvolutionSchedule, SumsOfOneImagePairItsChannelsTogether) {
  Machine machine = SmallVectors(1);
  machine.has_bf16_dot = true;
  const std::string text = ScheduledText(R"(kernel c
argument x bf16[4,6,40]
argument w bf16[3,6,12]
result y f32[4,40,12]
result z f32[4,40,12]
for n 4
| for j 40
| | for f 12
| | | y[n,j,f] = 0.0
| | | for l 2
| | | | for c 6
| | | | | y[n,j,f] += convert(f32, where(0 <= j+l-1 < 40, x[n,c,j+l-1], bf16(0.0))) * convert(f32, w[l,c,f])
for n 4
| for j 40
| | for f 12
| | | z[n,j,f] = 0.0
| | | for l 3
| | | | for c 6
| | | | | z[n,j,f] += convert(f32, where(0 <= j+l-1 < 40, x[n,c,j+l-1], bf16(0.0))) * convert(f32, w[l,c,f])
)",
                                         machine);
  EXPECT_THAT(text, HasSubstr("x_copy bf16[4,3,42,2]")) << text;
  for (const char* result : {"y", "z"}) {
    EXPECT_THAT(text, ContainsRegex(absl::StrCat(
                          result, "[^=]*\\+= .* \\+ convert\\(f32, x_copy")))
        << text;
  }
}

TEST(ConvolutionSchedule, WithoutSuchInstructionsChannelsStayWhereTheyAre) {
  EXPECT_THAT(ScheduledText(absl::Substitute(kNchwConvolution, "5")),
              HasSubstr("x_copy bf16[4,5,12,18]"));
}

// The loops of the conversion get the order of those of the sums.
TEST(ConvolutionSchedule, EpiloguesOfNchwConvolutionsAreFused) {
  const std::string text =
      ScheduledText(absl::Substitute(kNchwConvolution, "4"));
  EXPECT_THAT(text, Not(HasSubstr("local s f32[4,12,10,16]")));
  EXPECT_THAT(text, HasSubstr("register")) << text;
}

// The odd number of channels of the image is contiguous.
TEST(ConvolutionSchedule, ThreeAdjacentChannelsBecomeFour) {
  Machine machine = SmallVectors(1);
  machine.has_bf16_dot = true;
  const std::string text = ScheduledText(R"(kernel c
argument x bf16[20,24,3]
argument w bf16[5,5,3,8]
result y f32[20,24,8]
for i 20
| for j 24
| | for f 8
| | | y[i,j,f] = 0.0
| | | for k 5
| | | | for l 5
| | | | | for c 3
| | | | | | y[i,j,f] += convert(f32, where(0 <= i+k-2 < 20 and 0 <= j+l-2 < 24, x[i+k-2,j+l-2,c], bf16(0.0))) * convert(f32, w[k,l,c,f])
)",
                                         machine);
  EXPECT_THAT(text, HasSubstr("x_copy bf16[24,28,4]"));
  EXPECT_THAT(text, HasSubstr("]) + convert(f32, x_copy["));
}

TEST(ConvolutionSchedule, RowsOfStridedDepthwiseTilesShareWhatTheyLoad) {
  const std::string text = ScheduledText(R"(kernel m
argument x f32[3,17,33]
argument w f32[3,3,3]
result y f32[3,8,16]
for h 8
| for i 16
| | for c 3
| | | y[c,h,i] = 0.0
| | | for k 3
| | | | for l 3
| | | | | y[c,h,i] += x[c,2*h+k,2*i+l] * w[c,k,l]
)");
  // A tile has several rows, and the taps along the rows are unrolled.
  EXPECT_THAT(text, ContainsRegex("unrolled\n[| ]*for i[0-9]* [2-9] unrolled\n"
                                  "[| ]*for i[0-9]* [24] "))
      << text;
  // Image by image, without panels.
  EXPECT_THAT(text, HasSubstr("\nfor i0 3\n")) << text;
  EXPECT_THAT(text, Not(HasSubstr("x_copy"))) << text;
}

TEST(ConvolutionSchedule, PaddedDepthwiseImagesFitTheCacheAndAreWide) {
  Machine machine = SmallVectors(1);
  machine.l2_bytes = 64 << 10;
  const std::string text = ScheduledText(R"(kernel m
argument x bf16[4,60,14,16]
argument w bf16[60,3,3]
result y bf16[4,60,14,16]
local s f32[4,60,14,16] heap
for n 4
| for h 14
| | for i 16
| | | for c 60
| | | | s[n,c,h,i] = 0.0
| | | | for k 3
| | | | | for l 3
| | | | | | s[n,c,h,i] += convert(f32, where(0 <= h+k-1 < 14 and 0 <= i+l-1 < 16, x[n,c,h+k-1,i+l-1], bf16(0.0))) * convert(f32, w[c,k,l])
for n 4
| for c 60
| | for h 14
| | | for i 16
| | | | y[n,c,h,i] = convert(bf16, s[n,c,h,i])
)",
                                         machine);
  // Of one channel of one image, in the type of the products.
  EXPECT_THAT(text, HasSubstr("local x_copy f32[16,18] stack")) << text;
}

// A depthwise convolution along channels that are contiguous: $0 rows, a
// window of $1 elements in both directions, a border of $2; the image is $3.
constexpr char kChannels[] = R"(kernel c
argument x f32[2,$0,20,$4]
argument w f32[$1,$1,$4]
result y f32[2,$0,20,$4]
$5for n 2
| for h $0
| | for i 20
| | | for c $4
| | | | y[n,h,i,c] = 0.0
| | | | for k $1
| | | | | for l $1
| | | | | | y[n,h,i,c] += where(0 <= h+k-$2 < $0 and 0 <= i+l-$2 < 20, $3[n,h+k-$2,i+l-$2,c], 0.0) * w[k,l,c]
)";

TEST(ConvolutionSchedule, DepthwiseBordersAreReadInPlaceAlongChannels) {
  const std::string text =
      ScheduledText(absl::Substitute(kChannels, 21, 3, 1, "x", 24, ""));
  EXPECT_THAT(text, Not(HasSubstr("x_copy"))) << text;
  // Tiles of rows of the image, of equal size, around whole windows.
  EXPECT_THAT(text, ContainsRegex("unrolled\n[| ]*for i[0-9]* 3 unrolled\n"
                                  "[| ]*for i[0-9]* [4-8] unrolled\n"
                                  "[| ]*for i[0-9]* [0-9]* vector\n"));
  // The interior has no conditions, and goes along channels in the end.
  EXPECT_THAT(text, ContainsRegex("for i[0-9]* 18\n[| ]*for i[0-9]* 6\n"))
      << text;
  EXPECT_THAT(text, HasSubstr("] += x["));
}

TEST(ConvolutionSchedule, WideDepthwiseBordersAreCopied) {
  const std::string text =
      ScheduledText(absl::Substitute(kChannels, 21, 5, 2, "x", 24, ""));
  EXPECT_THAT(text, HasSubstr("x_copy")) << text;
}

// The margin is copied as it is computed.
TEST(ConvolutionSchedule, ComputedDepthwiseImagesAreCopied) {
  const std::string text = ScheduledText(absl::Substitute(
      kChannels, 21, 3, 1, "t", 24,
      "local t f32[2,21,20,24] heap\nfor n 2\n| for h 21\n| | for i 20\n"
      "| | | for c 24\n| | | | t[n,h,i,c] = maximum(x[n,h,i,c], 0.0)\n"));
  EXPECT_THAT(text, HasSubstr("t_copy")) << text;
  EXPECT_THAT(text, Not(HasSubstr("local t f32"))) << text;
}

// The window of all channels is larger than L1: blocks of channels are outside
// the columns of the image.
TEST(ConvolutionSchedule, BlocksOfManyChannelsKeepTheirWindowsInL1) {
  Machine machine = SmallVectors(1);
  machine.l1_bytes = 8 << 10;
  const std::string few =
      ScheduledText(absl::Substitute(kChannels, 6, 3, 1, "x", 16, ""), machine);
  EXPECT_THAT(few, ContainsRegex("for i[0-9]* 18\n[| ]*for i[0-9]* 4\n"))
      << few;
  const std::string many =
      ScheduledText(absl::Substitute(kChannels, 6, 3, 1, "x", 80, ""), machine);
  EXPECT_THAT(many, HasSubstr("\n| for i1 20\n")) << many;
  EXPECT_THAT(many, HasSubstr("\n| | for i2 18\n")) << many;
}

// Each element is read about twice.
TEST(ConvolutionSchedule, StridedDepthwiseImagesStayNarrow) {
  const std::string text = ScheduledText(R"(kernel m
argument x bf16[30,14,16]
argument w bf16[3,3,16]
result y f32[15,7,16]
for h 15
| for i 7
| | for c 16
| | | y[h,i,c] = 0.0
| | | for k 3
| | | | for l 3
| | | | | y[h,i,c] += convert(f32, where(0 <= 2*h+k-1 < 30 and 0 <= 2*i+l-1 < 14, x[2*h+k-1,2*i+l-1,c], bf16(0.0))) * convert(f32, w[k,l,c])
)");
  EXPECT_THAT(text, HasSubstr("x_copy bf16[31,15,16]")) << text;
}

// Six rows share eight elements of a window of three if it is unrolled, which
// the sums leave no registers for.
TEST(ConvolutionSchedule, WindowsAreUnrolledIfRegistersHoldWhatTheyShare) {
  constexpr char kConvolution[] = R"(kernel c
argument x f32[8,16,8]
argument w f32[8,3,3,$0]
result y f32[$0,14,6]
for i 14
| for j 6
| | for f $0
| | | y[f,i,j] = 0.0
| | | for k 3
| | | | for l 3
| | | | | for c 8
| | | | | | y[f,i,j] += x[c,i+k,j+l] * w[c,k,l,f]
)";
  Machine machine = SmallVectors(1);
  EXPECT_THAT(ScheduledText(absl::Substitute(kConvolution, 32), machine),
              ContainsRegex("for i[0-9] 3\n[| ]*for i[0-9] 6 unrolled"));
  machine.vector_registers = 32;
  EXPECT_THAT(
      ScheduledText(absl::Substitute(kConvolution, 8), machine),
      ContainsRegex("for i[0-9] 3 unrolled\n[| ]*for i[0-9] 6 unrolled"));
}

// Winograd's algorithm: blocks of tiles have loops around all of their nests,
// of which products get register tiles as if they were alone.
TEST(ConvolutionSchedule, ProductsOfBlocksHaveRegisterTiles) {
  const std::string text = ScheduledText(R"(kernel blocks
argument x f32[2,4,24,32]
argument w f32[2,32,32]
result y f32[2,4,2,24,32]
for b 2
| for a 4
| | local t f32[2,24,32] heap
| | local s f32[2,24,32] heap
| | for i 24
| | | for c 32
| | | | t[0,i,c] = x[b,a,i,c] - x[b,a,0,c]
| | | | t[1,i,c] = x[b,a,i,c] + x[b,a,0,c]
| | for e 2
| | | for i 24
| | | | for k 32
| | | | | s[e,i,k] = 0.0
| | | | | for c 32
| | | | | | s[e,i,k] += t[e,i,c] * w[e,c,k]
| | for e 2
| | | for i 24
| | | | for k 32
| | | | | y[b,a,e,i,k] = s[e,i,k]
)",
                                         SmallVectors(2));
  // The outermost loop is divided among threads, and no other.
  EXPECT_THAT(text, ContainsRegex("\nfor i0 2 parallel"));
  EXPECT_THAT(text, Not(ContainsRegex("\\| for i[0-9]+ [0-9]+ parallel")));
  EXPECT_THAT(text, ContainsRegex("s_local f32\\[[0-9]+,[0-9]+\\] register"));
  EXPECT_THAT(text, ContainsRegex("vector\n[| ]*s_local\\[[^\n]* \\+= t"))
      << text;
}

// Products that a condition may skip are no contractions: tiles of them would
// ask for each product.
TEST(ConvolutionSchedule, ProductsUnderConditionsHaveNoTiles) {
  EXPECT_THAT(ScheduledText(R"(kernel repair
argument x f32[24,32]
argument w f32[32,32]
argument p f32[]
result y f32[24,32]
for i 24
| for k 32
| | y[i,k] = 0.0
for i 24
| for c 32
| | for k 32
| | | y[i,k] += x[i,c] * w[c,k] if (p[] != 0.0)
)"),
              Not(HasSubstr("y_local")));
}

}  // namespace
}  // namespace hone::loops
