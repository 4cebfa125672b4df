#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/loops/program_text.h"
#include "tests/loops/transforms/apply_step.h"
#include "tests/loops/transforms/check_transform.h"
#include "tests/loops/transforms/shared_programs.h"

namespace hone::loops {
namespace {

using ::hone::testing::After;
using ::hone::testing::AfterChecked;
using ::hone::testing::Canonical;
using ::hone::testing::kMatmul;
using ::hone::testing::Moves;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Pack, LaysPanelsInTheOrderOfTheLoops) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument a f32[8,6]
argument b f32[6]
result y f32[8]
for i 2
| for j 4
| | y[4*i+j] = 0.0
| | for k 3
| | | for l 2
| | | | y[4*i+j] += a[4*i+j,2*k+l] * b[2*k+l]
)",
                         "pack 0 0 1"),
            Canonical(R"(kernel k
argument a f32[8,6]
argument b f32[6]
result y f32[8]
for i0 2
| local a_copy f32[4,3,2] stack
| for i1 4
| | for i2 3
| | | for i3 2
| | | | a_copy[i1,i2,i3] = a[4*i0+i1,2*i2+i3]
| for i1 4
| | y[4*i0+i1] = 0.0
| | for i2 3
| | | for i3 2
| | | | y[4*i0+i1] += a_copy[i1,i2,i3] * b[2*i2+i3]
)"));
}

constexpr char kGram[] = R"(kernel k
argument a f32[6,3]
result x f32[1]
result y f32[6,6]
x[0] = 0.0
for i 6
| for j 2
| | for l 3
| | | y[i,3*j+l] = 0.0
| | | for k 3
| | | | y[i,3*j+l] += a[i,k] * a[3*j+l,k]
)";

TEST(Pack, CopiesOneOperandOfAMatrixTimesItsTranspose) {
  EXPECT_EQ(AfterChecked(kGram, "pack 1.0 0 3 1"), Canonical(R"(kernel k
argument a f32[6,3]
result x f32[1]
result y f32[6,6]
x[0] = 0.0
for i 6
| for j 2
| | local a_copy f32[3,3] stack
| | for l 3
| | | for k 3
| | | | a_copy[l,k] = a[3*j+l,k]
| | for l 3
| | | y[i,3*j+l] = 0.0
| | | for k 3
| | | | y[i,3*j+l] += a[i,k] * a_copy[l,k]
)"));
  EXPECT_EQ(AfterChecked(kGram, "pack 1 0 4 1"), Canonical(R"(kernel k
argument a f32[6,3]
result x f32[1]
result y f32[6,6]
local a_copy f32[2,3,3] stack
x[0] = 0.0
for j 2
| for l 3
| | for k 3
| | | a_copy[j,l,k] = a[3*j+l,k]
for i 6
| for j 2
| | for l 3
| | | y[i,3*j+l] = 0.0
| | | for k 3
| | | | y[i,3*j+l] += a[i,k] * a_copy[j,l,k]
)"));
}

TEST(Pack, RearrangesAWholeOperandBeforeItsLoop) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument a f32[6,3]
argument b f32[6,3]
result x f32[6]
result y f32[6]
for i 6
| x[i] = a[i,0] * b[i,1]
for i 2
| for j 3
| | y[3*i+j] = 0.0
| | for k 3
| | | y[3*i+j] += a[3*i+j,k] * b[3*i+j,k]
)",
                         "pack 1 1 2"),
            Canonical(R"(kernel k
argument a f32[6,3]
argument b f32[6,3]
result x f32[6]
result y f32[6]
local b_copy f32[2,3,3] stack
for i 6
| x[i] = a[i,0] * b[i,1]
for i 2
| for j 3
| | for k 3
| | | b_copy[i,j,k] = b[3*i+j,k]
for i 2
| for j 3
| | y[3*i+j] = 0.0
| | for k 3
| | | y[3*i+j] += a[3*i+j,k] * b_copy[i,j,k]
)"));
}

TEST(Pack, KeepsTheDimensionsOrPermutesThem) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument a f32[8,6]
argument b f32[6]
result y f32[8]
for i 2
| for j 4
| | y[4*i+j] = 0.0
| | for k 3
| | | for l 2
| | | | y[4*i+j] += a[4*i+j,2*k+l] * b[2*k+l]
)",
                         "pack 0 0 0 1 0"),
            Canonical(R"(kernel k
argument a f32[8,6]
argument b f32[6]
result y f32[8]
for i0 2
| local a_copy f32[6,4] stack
| for i1 6
| | for i2 4
| | | a_copy[i1,i2] = a[4*i0+i2,i1]
| for i1 4
| | y[4*i0+i1] = 0.0
| | for i2 3
| | | for i3 2
| | | | y[4*i0+i1] += a_copy[2*i2+i3,i1] * b[2*i2+i3]
)"));
}

TEST(Pack, FillsWithZeroBeyondTheLastTile) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument a f32[10]
result y f32[10]
for i 3
| for j 4 < 10-4*i
| | y[4*i+j] = a[4*i+j]
)",
                         "pack 0 0 0"),
            Canonical(R"(kernel k
argument a f32[10]
result y f32[10]
for i0 3
| local a_copy f32[4] stack
| for i1 4
| | a_copy[i1] = where(0 <= 4*i0+i1 < 10, a[4*i0+i1], 0.0)
| for i1 4 < 10-4*i0
| | y[4*i0+i1] = a_copy[i1]
)"));
}

TEST(Pack, GathersPatches) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[10]
argument w f32[3]
result y f32[8]
for i 8
| y[i] = 0.0
| for k 3
| | y[i] += x[i+k] * w[k]
)",
                         "pack - 0 1"),
            Canonical(R"(kernel k
argument x f32[10]
argument w f32[3]
result y f32[8]
local x_copy f32[8,3] stack
for i0 8
| for i1 3
| | x_copy[i0,i1] = x[i0+i1]
for i0 8
| y[i0] = 0.0
| for i1 3
| | y[i0] += x_copy[i0,i1] * w[i1]
)"));
}

TEST(Pack, HoldsWhatOffsetsReach) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[12]
result y f32[10]
for i 2
| for j 5
| | y[5*i+j] = x[5*i+j] + x[5*i+j+1] + x[5*i+j+2]
)",
                         "pack 0 0 1"),
            Canonical(R"(kernel k
argument x f32[12]
result y f32[10]
for i0 2
| local x_copy f32[7] stack
| for i1 7
| | x_copy[i1] = x[5*i0+i1]
| for i1 5
| | y[5*i0+i1] = x_copy[i1] + x_copy[i1+1] + x_copy[i1+2]
)"));
}

TEST(Pack, CopiesALocalThatHasValues) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[8]
result y f32[8]
local t f32[8] heap
for i 8
| t[i] = x[i]
for i 2
| for j 4
| | y[4*i+j] = t[4*i+j]
)",
                         "pack 1 2 0"),
            Canonical(R"(kernel k
argument x f32[8]
result y f32[8]
local t f32[8] heap
for i0 8
| t[i0] = x[i0]
for i0 2
| local t_copy f32[4] stack
| for i1 4
| | t_copy[i1] = t[4*i0+i1]
| for i1 4
| | y[4*i0+i1] = t_copy[i1]
)"));
}

constexpr char kSums[] = R"(kernel k
argument x f32[8]
argument w f32[8]
argument rows s32[4]
result y f32[4]
local t f32[8] heap
for i 4
| t[i] = x[i]
for i 4
| y[i] = 0.0
| for j 4
| | y[i] += x[i+j] * t[i] + w[i] * w[j] + x[{clamp(s32(0), rows[i], s32(7))}]
)";

TEST(Pack, RefusesWhatTheLoopWrites) {
  EXPECT_THAT(After(kSums, "pack 1 3 0"), HasSubstr("writes the buffer"));
}

TEST(Pack, RefusesPlacesThatDependOnData) {
  EXPECT_THAT(After(kSums, "pack 1 0 0"), HasSubstr("depends on data"));
}

TEST(Pack, RefusesPartsThatLieInDifferentPlaces) {
  EXPECT_THAT(After(kSums, "pack 1 1 0"), HasSubstr("outer loops"));
}

// Half of t never gets a value, and the dimension is copied as a whole.
TEST(Pack, RefusesToCopyWhatHasNoValue) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[8]
result y f32[8]
local t f32[8] heap
for i 4
| t[2*i] = x[i]
for i 4
| y[i] = t[2*i]
| y[i+4] = t[2*i]
)",
                    "pack - 2 0"),
              HasSubstr("writes the buffer"));
  EXPECT_THAT(After(R"(kernel k
argument x f32[8]
result y f32[8]
local t f32[8] heap
for i 4
| t[2*i] = x[i]
for j 2
| for i 4
| | y[4*j+i] = t[2*i]
)",
                    "pack 1 2 0"),
              HasSubstr("may be uninitialized"));
}

TEST(Pack, RefusesOrdersThatAreNone) {
  EXPECT_THAT(After(kSums, "pack 1 2 0 0 0"), StartsWith("refused"));
  EXPECT_THAT(After(kSums, "pack 1 2 3"), StartsWith("refused"));
  EXPECT_THAT(After(kSums, "pack - 2 2"), StartsWith("refused"));
  EXPECT_THAT(After(kSums, "pack 1.0 2 0"), HasSubstr("is not a loop"));
}

TEST(Pack, RefusesSitesThatAreNone) {
  EXPECT_THAT(After(kGram, "pack 1 0 3"), HasSubstr("SITE"));
  EXPECT_THAT(After(kGram, "pack 1 0 3 2"), HasSubstr("SITE"));
  EXPECT_THAT(After(kGram, "pack 1 0 3 -1"), HasSubstr("SITE"));
  EXPECT_THAT(After(kGram, "pack 1 0 4 0 1"), HasSubstr("SITE"));
  EXPECT_THAT(After(kGram, "pack - 0 4 0"), HasSubstr("needs a loop"));
  EXPECT_THAT(After(kGram, "pack 1 0 5 0"), HasSubstr("form 5"));
}

TEST(Pack, IsOfferedForWhatIsReadAgain) {
  EXPECT_THAT(Moves(kMatmul, "pack"), ElementsAre("pack - 1 1", "pack 0 0 0"));
}

}  // namespace
}  // namespace hone::loops
