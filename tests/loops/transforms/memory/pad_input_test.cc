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

TEST(PadInput, PutsTheMarginIntoACopy) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[5]
argument w f32[3]
result y f32[5]
for i 5
| y[i] = 0.0
| for k 3
| | y[i] += where(0 <= i+k-1 < 5, x[i+k-1], 0.0) * w[k]
)",
                         "pad_input - 0"),
            Canonical(R"(kernel k
argument x f32[5]
argument w f32[3]
result y f32[5]
local x_copy f32[7] stack
for i0 7
| x_copy[i0] = where(0 <= i0-1 < 5, x[i0-1], 0.0)
for i0 5
| y[i0] = 0.0
| for i1 3
| | y[i0] += x_copy[i0+i1] * w[i1]
)"));
}

TEST(PadInput, CopiesWhatIsComputedBefore) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[5]
result y f32[5]
local t f32[5] heap
for i 5
| t[i] = x[i] + x[i]
for i 5
| y[i] = where(0 <= i-1 < 5, t[i-1], 0.0)
)",
                         "pad_input - 2"),
            Canonical(R"(kernel k
argument x f32[5]
result y f32[5]
local t f32[5] heap
local t_copy f32[5] stack
for i0 5
| t[i0] = x[i0] + x[i0]
for i0 5
| t_copy[i0] = where(0 <= i0-1 < 5, t[i0-1], 0.0)
for i0 5
| y[i0] = t_copy[i0]
)"));
}

TEST(PadInput, RefusesWhatChangesBetweenReads) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[5]
result y f32[5]
result z f32[5]
local t f32[5] heap
for i 5
| t[i] = x[i]
for i 5
| y[i] = where(0 <= i-1 < 5, t[i-1], 0.0)
for i 5
| t[i] = x[i] + x[i]
for i 5
| z[i] = where(0 <= i-1 < 5, t[i-1], 0.0)
)",
                    "pad_input - 3"),
              HasSubstr("writes the buffer"));
}

TEST(PadInput, RefusesReadsWithDifferentMargins) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[5]
result y f32[6]
for i 6
| y[i] = where(0 <= i < 5, x[i], 0.0) + where(0 <= i-1 < 5, x[i-1], 1.0)
)",
                    "pad_input - 0"),
              HasSubstr("one constant"));
}

TEST(PadInput, RefusesReadsWithoutMargin) {
  EXPECT_THAT(After(kMatmul, "pad_input - 0"), HasSubstr("one constant"));
}

// Ranges that are not the bounds mean something else.
TEST(PadInput, LeavesOtherRanges) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[5]
result y f32[5]
for i 5
| y[i] = where(0 <= i < 3, x[i], 0.0)
)",
                    "pad_input - 0"),
              HasSubstr("one constant"));
}

}  // namespace
}  // namespace hone::loops
