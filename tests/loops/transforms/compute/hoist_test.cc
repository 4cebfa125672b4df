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

TEST(Hoist, MovesANode) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[4]
result y f32[4]
for i 4
| local t f32[] stack
| t[] = x[0] * 2.0
| y[i] = x[i] + t[]
)",
                         "hoist 0.0"),
            Canonical(R"(kernel k
argument x f32[4]
result y f32[4]
local t f32[] stack
t[] = x[0] * 2.0
for i0 4
| y[i0] = x[i0] + t[]
)"));
}

TEST(Hoist, MovesAnExpression) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[4,6]
argument v f32[4]
result y f32[4,6]
for i 4
| for j 6
| | y[i,j] = x[i,j] * rsqrt(v[i] + 1.0)
)",
                         "hoist 0.0.0 2 1"),
            Canonical(R"(kernel k
argument x f32[4,6]
argument v f32[4]
result y f32[4,6]
for i0 4
| local hoisted f32[] register
| hoisted[] = rsqrt(v[i0] + 1.0)
| for i1 6
| | y[i0,i1] = x[i0,i1] * hoisted[]
)"));
}

TEST(Hoist, RefusesWhatDependsOnTheLoop) {
  EXPECT_THAT(After(kMatmul, "hoist 0.0.0"), HasSubstr("depends"));
  EXPECT_THAT(After(kMatmul, "hoist 0.0.1.0 0 1"), HasSubstr("depends"));
}

// The sum begins anew in each iteration.
TEST(Hoist, RefusesWhatOtherNodesChange) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[4,6]
result y f32[4]
local t f32[] heap
for i 4
| t[] = 0.0
| for j 6
| | t[] += x[i,j]
| y[i] = t[]
)",
                    "hoist 0.0"),
              HasSubstr("run first"));
  EXPECT_THAT(After(R"(kernel k
argument x f32[4]
result y f32[4]
local t f32[] heap
t[] = 0.0
for i 4
| y[i] = sqrt(t[])
| t[] += x[i]
)",
                    "hoist 1.0 0 1"),
              HasSubstr("change what it loads"));
}

TEST(Hoist, RefusesWhatIsNotAlwaysEvaluated) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[4]
result y f32[6]
for k 2
| for i 6
| | y[i] = where(0 <= i < 4, sqrt(x[k]), 0.0)
)",
                    "hoist 0.0.0 1 1"),
              HasSubstr("not always evaluated"));
}

}  // namespace
}  // namespace hone::loops
