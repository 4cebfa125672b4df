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
using ::testing::HasSubstr;

TEST(ComputeAt, ComputesWhatAnIterationReads) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[8]
result y f32[6]
local t f32[8] heap
for i 8
| t[i] = exponential(x[i])
for i 3
| for j 2
| | y[2*i+j] = t[2*i+j] + t[2*i+j+2]
)",
                         "compute_at 1 2"),
            Canonical(R"(kernel k
argument x f32[8]
result y f32[6]
for i0 3
| local t f32[4] heap
| for i1 4
| | t[i1] = exponential(x[2*i0+i1])
| for i1 2
| | y[2*i0+i1] = t[i1] + t[i1+2]
)"));
}

TEST(ComputeAt, LeavesOutWhatIsOutOfBounds) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[6,3]
result y f32[6]
local t f32[6] heap
for i 6
| t[i] = 0.0
| for k 3
| | t[i] += x[i,k]
for i 2
| for j 4 < 6-4*i
| | y[4*i+j] = t[4*i+j] * 2.0
)",
                         "compute_at 1 2"),
            Canonical(R"(kernel k
argument x f32[6,3]
result y f32[6]
for i0 2
| local t f32[4] heap
| for i1 4
| | t[i1] = where(0 <= 4*i0+i1 < 6, 0.0, 0.0)
| | for i2 3
| | | t[i1] += where(0 <= 4*i0+i1 < 6, x[4*i0+i1,i2], 0.0)
| for i1 4 < 6-4*i0
| | y[4*i0+i1] = t[i1] * 2.0
)"));
}

TEST(ComputeAt, RefusesOtherReaders) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[6]
result y f32[6]
result z f32[6]
local t f32[6] heap
for i 6
| t[i] = x[i]
for i 6
| y[i] = t[i]
for i 6
| z[i] = t[i]
)",
                    "compute_at 1 3"),
              HasSubstr("beside"));
}

TEST(ComputeAt, RefusesWhatChangesBefore) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[6]
result y f32[6]
local t f32[6] heap
local u f32[6] heap
for i 6
| u[i] = x[i]
for i 6
| t[i] = u[i]
for i 6
| u[i] = 0.0
| y[i] = t[i]
)",
                    "compute_at 2 2"),
              HasSubstr("may change"));
}

TEST(ComputeAt, RefusesNestsThatWriteMore) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[6]
result y f32[6]
result z f32[6]
local t f32[6] heap
for i 6
| t[i] = x[i]
| z[i] = x[i]
for i 6
| y[i] = t[i]
)",
                    "compute_at 1 3"),
              HasSubstr("something else"));
}

// t keeps its values from the first iteration on.
TEST(ComputeAt, RefusesValuesOfEarlierIterations) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[6]
result y f32[3,6]
local t f32[6] heap
for o 3
| for i 6
| | t[i] = x[i] if (index(s32, o) == s32(0))
| for i 6
| | y[o,i] = t[i]
)",
                    "compute_at 0.1 2"),
              HasSubstr("another iteration"));
}

}  // namespace
}  // namespace hone::loops
