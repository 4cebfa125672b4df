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

TEST(Pad, LeavesAGap) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[4,6]
result y f32[6,4]
local t f32[4,6] heap
for i 4
| for j 6
| | t[i,j] = x[i,j]
for j 6
| for i 4
| | y[j,i] = t[i,j]
)",
                         "pad - 2 0 2"),
            Canonical(R"(kernel k
argument x f32[4,6]
result y f32[6,4]
local t f32[4,6] heap strides {8,1}
for i0 4
| for i1 6
| | t[i0,i1] = x[i0,i1]
for i0 6
| for i1 4
| | y[i0,i1] = t[i1,i0]
)"));
}

TEST(Pad, RefusesWhatCallersSee) {
  EXPECT_THAT(After(kMatmul, "pad - 0 0 8"), HasSubstr("not a local"));
}

TEST(Pad, RefusesFlatAccesses) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[24]
result y f32[24]
local t f32[4,6] heap
for i 24
| t@[i] = x[i]
for i 24
| y[i] = t@[i]
)",
                    "pad - 2 0 2"),
              HasSubstr("flat"));
}

TEST(Pad, RefusesADimensionWithoutAPlace) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[4]
result y f32[4]
local t f32[1,4] heap strides {0,1}
for i 4
| t[0,i] = x[i]
for i 4
| y[i] = t[0,i]
)",
                    "pad - 2 0 2"),
              HasSubstr("has stride 0"));
}

}  // namespace
}  // namespace hone::loops
