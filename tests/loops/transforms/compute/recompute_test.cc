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

TEST(Recompute, LeavesOtherReaders) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[6]
result y f32[6]
result z f32[6]
local t f32[6] heap
for i 6
| t[i] = x[i] + 1.0
for i 6
| y[i] = t[i]
for i 6
| z[i] = t[i]
)",
                         "recompute 2.0 3"),
            Canonical(R"(kernel k
argument x f32[6]
result y f32[6]
result z f32[6]
local t f32[6] heap
for i0 6
| t[i0] = x[i0] + 1.0
for i0 6
| y[i0] = t[i0]
for i0 6
| z[i0] = x[i0] + 1.0
)"));
}

TEST(Recompute, RefusesStatementsThatDoNotRead) {
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
| z[i] = x[i]
)",
                    "recompute 2.0 3"),
              HasSubstr("does not read"));
}

}  // namespace
}  // namespace hone::loops
