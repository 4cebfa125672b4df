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
using ::hone::testing::Moves;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CacheWrite, CopiesAPartInAndOut) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[3,8]
result y f32[8]
for i 8
| y[i] = 0.0
for i 2
| for k 3
| | for j 4
| | | y[4*i+j] += x[k,4*i+j]
)",
                         "cache_write 1 1"),
            Canonical(R"(kernel k
argument x f32[3,8]
result y f32[8]
for i0 8
| y[i0] = 0.0
for i0 2
| local y_local f32[4] stack
| for i1 4
| | y_local[i1] = y[4*i0+i1]
| for i1 3
| | for i2 4
| | | y_local[i2] += x[i1,4*i0+i2]
| for i1 4
| | y[4*i0+i1] = y_local[i1]
)"));
}

TEST(CacheWrite, LeavesOutWhatLiesBetween) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[3,4]
result y f32[18]
for i 18
| y[i] = 0.0
for i 2
| for k 3
| | for j 2
| | | for l 2
| | | | y[8*i+6*j+2*l+1] += x[k,2*j+l]
)",
                         "cache_write 1 1"),
            Canonical(R"(kernel k
argument x f32[3,4]
result y f32[18]
for i0 18
| y[i0] = 0.0
for i0 2
| local y_local f32[5] stack
| for i1 2
| | for i2 2
| | | y_local[3*i1+i2] = y[8*i0+6*i1+2*i2+1]
| for i1 3
| | for i2 2
| | | for i3 2
| | | | y_local[3*i2+i3] += x[i1,2*i2+i3]
| for i1 2
| | for i2 2
| | | y[8*i0+6*i1+2*i2+1] = y_local[3*i1+i2]
)"));
}

TEST(CacheWrite, BeginsWithWhatTheLoopWrites) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[3,8]
result y f32[8]
for i 2
| for j 4 unrolled
| | y[4*i+j] = 0.0
| for k 3
| | for j 4 vector
| | | y[4*i+j] += x[k,4*i+j]
)",
                         "cache_write 0 1"),
            Canonical(R"(kernel k
argument x f32[3,8]
result y f32[8]
for i0 2
| local y_local f32[4] stack
| for i1 4 unrolled
| | y_local[i1] = 0.0
| for i1 3
| | for i2 4 vector
| | | y_local[i2] += x[i1,4*i0+i2]
| for i1 4 unrolled
| | y[4*i0+i1] = y_local[i1]
)"));
}

TEST(CacheWrite, MakesAScalarOfOneElement) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[5,9]
result y f32[5]
for i 5
| y[i] = 0.0
| for j 9
| | y[i] += x[i,j]
)",
                         "cache_write 0 1"),
            Canonical(R"(kernel k
argument x f32[5,9]
result y f32[5]
for i0 5
| local y_local f32[] stack
| y_local[] = 0.0
| for i1 9
| | y_local[] += x[i0,i1]
| y[i0] = y_local[]
)"));
}

TEST(CacheWrite, KeepsTheBoundsOfTheLastTile) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[3,10]
result y f32[10]
for i 10
| y[i] = 0.0
for i 3
| for k 3
| | for j 4 < 10-4*i
| | | y[4*i+j] += x[k,4*i+j]
)",
                         "cache_write 1 1"),
            Canonical(R"(kernel k
argument x f32[3,10]
result y f32[10]
for i0 10
| y[i0] = 0.0
for i0 3
| local y_local f32[4] stack
| for i1 4 < 10-4*i0
| | y_local[i1] = y[4*i0+i1]
| for i1 3
| | for i2 4 < 10-4*i0
| | | y_local[i2] += x[i1,4*i0+i2]
| for i1 4 < 10-4*i0
| | y[4*i0+i1] = y_local[i1]
)"));
}

TEST(CacheWrite, RefusesWhatOtherIterationsReach) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[8]
result y f32[8]
for i 8
| y[i] = x[i]
for i 7
| for j 3
| | y[i+1] += y[i]
)",
                    "cache_write 1 1"),
              HasSubstr("different elements"));
}

// Some of y has no value when an iteration begins, and may get none in it.
TEST(CacheWrite, RefusesWhatMayHaveNoValue) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[8]
result y f32[8]
for i 8
| for j 3
| | y[i] = x[i] if (x[i] > 0.0)
| y[i] = 1.0
)",
                    "cache_write 0.0 1"),
              HasSubstr("may be uninitialized"));
  // After y[0], the inner loop alone gives y its values.
  EXPECT_THAT(After(R"(kernel k
argument x f32[8]
result y f32[8]
result z f32[8]
y[0] = 1.0
for k 1
| for i 8
| | z[i] = y[i]
| | for j 8
| | | y[j] = x[j]
)",
                    "cache_write 1 1"),
              HasSubstr("may be uninitialized"));
}

TEST(CacheWrite, RefusesWhereNothingIsWritten) {
  EXPECT_THAT(After(kMatmul, "cache_write 0 0"), HasSubstr("does not write"));
  EXPECT_THAT(After(kMatmul, "cache_write 0.0.1.0 2"),
              HasSubstr("is not a loop"));
}

TEST(CacheWrite, IsOfferedForReductions) {
  EXPECT_THAT(Moves(kMatmul, "cache_write"),
              ElementsAre("cache_write 0 2", "cache_write 0.0 2"));
}

TEST(CacheWrite, RefusesADiagonalBesideTheWhole) {
  EXPECT_THAT(After(kDiagonalBesideWhole, "cache_write 1 1"),
              HasSubstr("different elements"));
}

}  // namespace
}  // namespace hone::loops
