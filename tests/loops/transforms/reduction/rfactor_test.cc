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
using ::hone::testing::kDiagonalBesideWhole;
using ::hone::testing::kMatmul;
using ::hone::testing::kSharedTargets;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Rfactor, KeepsAPartialResultPerLane) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[8]
result y f32[]
y[] = 0.0
for i 2
| for j 4
| | y[] += x[4*i+j]
)",
                         "rfactor 1.0 1 1", /*exact=*/false),
            Canonical(R"(kernel k
argument x f32[8]
result y f32[]
local y_parts f32[4] stack
y[] = 0.0
for i0 4
| y_parts[i0] = -0.0
for i0 2
| for i1 4
| | y_parts[i1] += x[4*i0+i1]
for i0 4
| y[] += y_parts[i0]
)"));
}

TEST(Rfactor, KeepsAPartialRowPerIteration) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[4,6]
result y f32[6]
for j 6
| y[j] = 1.0
for i 4
| for j 6
| | y[j] *= x[i,j]
)",
                         "rfactor 1 1 0", /*exact=*/false),
            Canonical(R"(kernel k
argument x f32[4,6]
result y f32[6]
local y_parts f32[4,6] stack
for i0 6
| y[i0] = 1.0
for i0 6
| for i1 4
| | y_parts[i1,i0] = 1.0
for i0 4
| for i1 6
| | y_parts[i0,i1] *= x[i0,i1]
for i0 4
| for i1 6
| | y[i1] *= y_parts[i0,i1]
)"));
}

TEST(Rfactor, RefusesLoopsThatMoveTheTarget) {
  EXPECT_THAT(After(kMatmul, "rfactor 0.0 2 0"), StartsWith("refused"));
}

TEST(Rfactor, RefusesTargetsThatAreAlsoReadInside) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[6]
result y f32[6]
result s f32[]
s[] = 0.0
for i 6
| s[] += x[i]
| y[i] = s[]
)",
                    "rfactor 1 2 0"),
              HasSubstr("other than one reduction"));
}

// The part around which partial results would live has the first value, too.
TEST(Rfactor, RefusesTheLoopThatGivesTheFirstValue) {
  EXPECT_THAT(After(kMatmul, "rfactor 0.0.1 2 1"),
              HasSubstr("other than one reduction"));
}

TEST(Rfactor, RefusesTooManyLevels) {
  EXPECT_THAT(After(kMatmul, "rfactor 0.0.1 2 3"), HasSubstr("fewer loops"));
}

// A part would be combined into y[1] for i, j = 0, 1 and again for 1, 0.
TEST(Rfactor, RefusesTargetsThatSeveralIterationsShare) {
  EXPECT_THAT(After(kSharedTargets, "rfactor 1 2 0"),
              HasSubstr("several iterations"));
}

TEST(Rfactor, RefusesADiagonalBesideTheWhole) {
  EXPECT_THAT(After(kDiagonalBesideWhole, "rfactor 1 1 0"),
              HasSubstr("different elements"));
}

}  // namespace
}  // namespace hone::loops
