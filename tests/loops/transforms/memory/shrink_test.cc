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
using ::testing::HasSubstr;

TEST(Shrink, KeepsWhatOneIterationUses) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[4,6]
result y f32[4,6]
local t f32[4,6] heap
for i 4
| for j 6
| | t[i,j] = x[i,j] + 1.0
| for j 6
| | y[i,j] = t[i,j] * 2.0
)",
                         "shrink 0 2"),
            Canonical(R"(kernel k
argument x f32[4,6]
result y f32[4,6]
for i0 4
| local t f32[6] heap
| for i1 6
| | t[i1] = x[i0,i1] + 1.0
| for i1 6
| | y[i0,i1] = t[i1] * 2.0
)"));
}

// Each iteration reads what the one before it wrote.
TEST(Shrink, RefusesWhatFlowsBetweenIterations) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[8]
result y f32[8]
local t f32[9] heap
for i 1
| t[0] = 0.0
for i 8
| t[i+1] = t[i] + x[i]
| y[i] = t[i+1]
)",
                    "shrink 1 2"),
              HasSubstr("outside"));
  EXPECT_THAT(After(R"(kernel k
argument x f32[8]
result y f32[8]
local t f32[] heap
for i 8
| t[] = x[i] if (x[i] > 0.0)
| y[i] = t[]
)",
                    "shrink 0 2"),
              HasSubstr("another one wrote"));
}

TEST(Shrink, RefusesWhatIsUsedOutside) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[8]
result y f32[8]
local t f32[8] heap
for i 8
| t[i] = x[i]
for i 8
| y[i] = t[i]
)",
                    "shrink 0 2"),
              HasSubstr("outside"));
}

TEST(Shrink, RefusesResults) {
  EXPECT_THAT(After(kMatmul, "shrink 0 2"), HasSubstr("not a local"));
}

}  // namespace
}  // namespace hone::loops
