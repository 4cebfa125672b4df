#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/loops/program_text.h"
#include "tests/loops/transforms/apply_step.h"
#include "tests/loops/transforms/check_transform.h"

namespace hone::loops {
namespace {

using ::hone::testing::After;
using ::hone::testing::AfterChecked;
using ::hone::testing::Canonical;
using ::hone::testing::Moves;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kRows[] = R"(kernel k
argument x f32[8,3]
result y f32[8,3]
for i 8
| local m f32[] register
| local t f32[3] stack strides {2}
| m[] = 0.0
| for j 3
| | t[j] = negate(x[i,j])
| | m[] += t[j]
| for j 3
| | y[i,j] = t[j] - m[]
)";

TEST(Expand, GivesEachIterationItsOwnElements) {
  EXPECT_EQ(AfterChecked(kRows, "expand 0"), Canonical(R"(kernel k
argument x f32[8,3]
result y f32[8,3]
local m f32[8] stack
local t f32[3,8] stack strides {16,1}
for i 8
| m[i] = 0.0
| for j 3
| | t[j,i] = negate(x[i,j])
| | m[i] += t[j,i]
| for j 3
| | y[i,j] = t[j,i] - m[i]
)"));
}

TEST(Expand, AllowsToDistributeALoopWithLocals) {
  EXPECT_THAT(After(kRows, "fission 0 2"), HasSubstr("used on both sides"));
  AfterChecked(kRows, "expand 0\nfission 0 2\nfission 0 1");
}

TEST(Expand, PutsLargeLocalsOnTheHeap) {
  EXPECT_THAT(AfterChecked(R"(kernel k
argument x f32[100,100]
result y f32[100,100]
for i 100
| local t f32[100] stack
| for j 100
| | t[j] = x[i,j] * x[i,j]
| for j 100
| | y[i,j] = t[99-j]
)",
                           "expand 0"),
              HasSubstr("local t f32[100,100] heap"));
}

TEST(Expand, IsOfferedForLoopsWithLocals) {
  EXPECT_THAT(Moves(kRows, "expand"), ElementsAre("expand 0"));
}

TEST(Expand, RefusesLoopsWithoutLocalsAndFlatAccesses) {
  EXPECT_THAT(After(kRows, "expand 0.1"), HasSubstr("no locals"));
  EXPECT_THAT(After(R"(kernel k
argument x f32[8,3]
result y f32[8,3]
for i 8
| local t f32[1,3] stack
| for j 3
| | t@[j] = x[i,j]
| for j 3
| | y[i,j] = t@[j]
)",
                    "expand 0"),
              HasSubstr("flat"));
}

TEST(Expand, RefusesLocalsThatNoMachineHolds) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[1000000]
result y f32[1000000]
for i 1000000
| local t f32[1000] heap
| t[0] = x[i]
| y[i] = t[0]
)",
                    "expand 0"),
              HasSubstr("t has 4000 bytes for each of 1000000 iterations"));
}

TEST(Expand, RefusesParallelLoops) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[8,3]
result y f32[8,3]
for i 8 parallel
| local t f32[] register
| t[] = x[i,0]
| for j 3
| | y[i,j] = t[]
)",
                    "expand 0"),
              HasSubstr("parallel"));
}

}  // namespace
}  // namespace hone::loops
