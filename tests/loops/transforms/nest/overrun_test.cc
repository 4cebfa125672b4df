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
using ::testing::IsEmpty;

// The second group of four lanes has one, and is all past the bound where there
// are only five columns.
constexpr char kTile[] = R"(kernel k
argument a f32[3]
argument b f32[3,8]
result c f32[5]
local t f32[8] register
for i 2 unrolled
| for j 4 vector
| | t[4*i+j] = 0.0
for k 3
| for i 2 unrolled
| | for j 4 < 5-4*i vector
| | | t[4*i+j] += a[k] * b[k,4*i+j]
for i 2 unrolled
| for j 4 < 5-4*i vector
| | c[4*i+j] = t[4*i+j]
)";

TEST(Overrun, ComputesTheWholeTile) {
  EXPECT_EQ(AfterChecked(kTile, "overrun 1.0.0"), Canonical(R"(kernel k
argument a f32[3]
argument b f32[3,8]
result c f32[5]
local t f32[8] register
for i 2 unrolled
| for j 4 vector
| | t[4*i+j] = 0.0
for k 3
| for i 2 unrolled
| | for j 4 vector
| | | t[4*i+j] += a[k] * b[k,4*i+j]
for i 2 unrolled
| for j 4 < 5-4*i vector
| | c[4*i+j] = t[4*i+j]
)"));
  EXPECT_THAT(Moves(kTile, "overrun"), ElementsAre("overrun 1.0.0"));
}

TEST(Overrun, RefusesWritesThatOthersSee) {
  EXPECT_THAT(After(kTile, "overrun 2.0"), HasSubstr("not a local"));
  // The sum has all of the lanes.
  EXPECT_THAT(After(R"(kernel k
argument x f32[8]
result y f32[]
local t f32[] register
t[] = 0.0
for i 8 < 5 vector
| t[] += x[i]
y[] = t[]
)",
                    "overrun 1"),
              HasSubstr("may be read"));
  // The next tile's elements.
  EXPECT_THAT(After(R"(kernel k
result y f32[20]
local t f32[20] heap
for i 20
| t[i] = 1.0
for i 5
| for j 8 < 4
| | t[4*i-4*i+j+8] = 2.0
for i 20
| y[i] = t[i]
)",
                    "overrun 1.0"),
              HasSubstr("may be read"));
}

TEST(Overrun, CountsIterationsPastANegativeBound) {
  // In the second iteration of i the bound is -3, and elements 5, 6 and 7 are
  // past it as well as those before.
  EXPECT_THAT(After(R"(kernel k
result y f32[]
local t f32[8] stack
for i 8
| t[i] = 1.0
for i 2
| for j 8 < 5-8*i
| | t[j] = 1.0
y[] = t[7]
)",
                    "overrun 1.0"),
              HasSubstr("may be read"));
}

TEST(Overrun, RefusesReadsOfNothing) {
  // Out of bounds.
  EXPECT_THAT(After(R"(kernel k
argument x f32[5]
result y f32[5]
local t f32[8] stack
for i 8 < 5
| t[i] = x[i]
for i 5
| y[i] = t[i]
)",
                    "overrun 0"),
              HasSubstr("refused"));
  // Without a value.
  EXPECT_THAT(After(R"(kernel k
result y f32[5]
local t f32[8] stack
for i 5
| t[i] = 1.0
for i 8 < 5
| t[i] += 1.0
for i 5
| y[i] = t[i]
)",
                    "overrun 1"),
              HasSubstr("no value"));
}

TEST(Overrun, IsForLoopsWithABoundAndStatements) {
  EXPECT_THAT(After(kTile, "overrun 0.0"), HasSubstr("no bound"));
  EXPECT_THAT(Moves(R"(kernel k
argument p s32[8]
argument x f32[4]
result y f32[5]
local t f32[8] stack
for i 8 < 5
| t[i] = x[{p[i]}]
for i 5
| y[i] = t[i]
)",
                    "overrun"),
              IsEmpty());
}

}  // namespace
}  // namespace hone::loops
