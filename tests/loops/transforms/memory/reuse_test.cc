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
using ::testing::Not;

TEST(Reuse, TakesThePlaceOfWhatIsNotReadAgain) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[6]
result y f32[6]
local t f32[6] heap
local u f32[6] heap
for i 6
| t[i] = exponential(x[i])
for i 6
| u[i] = t[i] + 1.0
for i 6
| y[i] = u[i] * 2.0
)",
                         "reuse - 2 3"),
            Canonical(R"(kernel k
argument x f32[6]
result y f32[6]
local t f32[6] heap
for i0 6
| t[i0] = exponential(x[i0])
for i0 6
| t[i0] = t[i0] + 1.0
for i0 6
| y[i0] = t[i0] * 2.0
)"));
}

TEST(Reuse, AcceptsOneAfterTheOther) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[6]
result y f32[6]
result z f32[6]
local t f32[6] heap
local u f32[6] heap
for i 6
| t[i] = x[i]
for i 6
| y[i] = t[5-i]
for i 6
| u[i] = x[i]
for i 6
| z[i] = u[5-i]
)",
                    "reuse - 3 4"),
              Not(HasSubstr("local u")));
}

// u[5-i] would take the place of what is still to be read.
TEST(Reuse, RefusesWhatIsReadLater) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[6]
result y f32[6]
local t f32[6] heap
local u f32[6] heap
for i 6
| t[i] = x[i]
for i 6
| u[5-i] = t[i]
for i 6
| y[i] = u[i]
)",
                    "reuse - 2 3"),
              HasSubstr("same one"));
  EXPECT_THAT(After(R"(kernel k
argument x f32[6]
result y f32[6]
local t f32[6] heap
local u f32[6] heap
for i 6
| t[i] = x[i]
for k 2
| for i 6
| | u[i] = t[i] + 1.0
for i 6
| y[i] = u[i]
)",
                    "reuse - 2 3"),
              HasSubstr("same one"));
  EXPECT_THAT(After(R"(kernel k
argument x f32[6]
result y f32[6]
local t f32[6] heap
local u f32[6] heap
for i 6
| t[i] = x[i]
for i 6
| u[i] = t[i]
for i 6
| y[i] = u[i] + t[i]
)",
                    "reuse - 2 3"),
              HasSubstr("needed at once"));
}

TEST(Reuse, RefusesOtherSizes) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[6]
result y f32[6]
local t f32[6] heap
local u f32[7] heap
for i 6
| t[i] = x[i]
for i 6
| u[i] = t[i]
for i 6
| y[i] = u[i]
)",
                    "reuse - 2 3"),
              HasSubstr("differ"));
}

}  // namespace
}  // namespace hone::loops
