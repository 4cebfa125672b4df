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

TEST(Inline, PutsTheValueInItsReaders) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[4,6]
result y f32[6,4]
local t f32[4,6] heap
for i 4
| for j 6
| | t[i,j] = exponential(x[i,j]) * index(f32, i)
for j 6
| for i 4
| | y[j,i] = t[i,j] + 1.0
)",
                         "inline 0.0.0"),
            Canonical(R"(kernel k
argument x f32[4,6]
result y f32[6,4]
for i0 6
| for i1 4
| | y[i0,i1] = exponential(x[i1,i0]) * index(f32, i1) + 1.0
)"));
}

TEST(Inline, UnderstandsSplitIndices) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[8]
result y f32[8]
local t f32[8] heap
for i 2
| for j 4
| | t[4*i+j] = exponential(x[4*i+j])
for a 2
| for b 4
| | y[4*a+b] = t[4*a+b] + 1.0
)",
                         "inline 0.0.0"),
            Canonical(R"(kernel k
argument x f32[8]
result y f32[8]
for i0 2
| for i1 4
| | y[4*i0+i1] = exponential(x[4*i0+i1]) + 1.0
)"));
}

// The second digit is split further, and the vector of the last tile begins at
// another element.
TEST(Inline, UnderstandsDigitsOfSeveralTerms) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[3,8]
argument s f32[3]
result y f32[2,12]
local t f32[3,8] heap
for i 3
| for j 8
| | t[i,j] = x[i,j] * s[i]
for a 3
| for b 1
| | for c 4
| | | y@[8*a+4*b+c] = t@[8*a+4*b+c]
| for c 4
| | y@[8*a+c+4] = t@[8*a+c+4]
)",
                         "inline 0.0.0"),
            Canonical(R"(kernel k
argument x f32[3,8]
argument s f32[3]
result y f32[2,12]
for i0 3
| for i1 1
| | for i2 4
| | | y@[8*i0+4*i1+i2] = x[i0,4*i1+i2] * s[i0]
| for i1 4
| | y@[8*i0+i1+4] = x[i0,i1+4] * s[i0]
)"));
}

TEST(Inline, RefusesDigitsThatMayOverflow) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[3,8]
argument s f32[3]
result y f32[24]
local t f32[3,8] heap
for i 3
| for j 8
| | t[i,j] = x[i,j] * s[i]
for a 6
| for b 4
| | y[4*a+b] = t@[4*a+b]
)",
                    "inline 0.0.0"),
              HasSubstr("does not tell the iteration"));
}

TEST(Inline, RefusesWhatChangesBeforeItIsRead) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[6]
result y f32[6]
local t f32[6] heap
local u f32[6] heap
for i 6
| u[i] = x[i]
for i 6
| t[i] = u[i] + 1.0
for i 6
| u[i] = 0.0
for i 6
| y[i] = t[i] + u[i]
)",
                    "inline 1.0"),
              HasSubstr("may change"));
}

TEST(Inline, RefusesValuesOfOtherIterations) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[6]
result y f32[6]
local t f32[] heap
for i 6
| t[] = x[i] if (index(s32, i) == s32(0))
| y[i] = t[]
)",
                    "inline 0.0"),
              HasSubstr("always give"));
  EXPECT_THAT(After(R"(kernel k
argument x f32[6]
result y f32[6]
local t f32[6] heap
for k 2
| for i 6 < 6-5*k
| | t[i] = x[i] + index(f32, k)
| for i 6
| | y[i] = t[i]
)",
                    "inline 0.0.0"),
              HasSubstr("another iteration"));
}

TEST(Inline, RefusesReductions) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[6]
result y f32[]
local t f32[] heap
t[] = 0.0
for i 6
| t[] += x[i]
y[] = t[]
)",
                    "inline 1.0"),
              HasSubstr("always give"));
}

// An element that is written twice has the second value.
TEST(Inline, RefusesLoopsThatTheTargetDoesNotTell) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[6]
result y f32[]
local t f32[] heap
for i 6
| t[] = x[i]
y[] = t[]
)",
                    "inline 0.0"),
              HasSubstr("depends on a loop"));
}

}  // namespace
}  // namespace hone::loops
