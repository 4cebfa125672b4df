#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "loops/transforms/machine.h"
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

constexpr char kConvolution[] = R"(kernel k
argument x bf16[3,7]
argument w bf16[3,2]
result y f32[7]
for i 7
| y[i] = 0.0
| for c 3
| | for j 2
| | | y[i] += convert(f32, where(0 <= i+j-1 < 7, x[c,i+j-1], bf16(0.0))) * convert(f32, w[c,j])
)";

TEST(PadSum, AddsProductsOfZeros) {
  EXPECT_EQ(AfterChecked(kConvolution, "pad_sum 0.1 2"), Canonical(R"(kernel k
argument x bf16[3,7]
argument w bf16[3,2]
result y f32[7]
for i 7
| y[i] = 0.0
| for c 4
| | for j 2
| | | y[i] += convert(f32, where(0 <= i+j-1 < 7 and 0 <= c < 3, x[c,i+j-1], bf16(0.0))) * convert(f32, where(0 <= c < 3, w[c,j], bf16(0.0)))
)"));
}

// Infinite and NaN factors are multiplied by what they were before only.
TEST(PadSum, LeavesItsRangesToCopies) {
  EXPECT_EQ(AfterChecked(kConvolution,
                         "pad_sum 0.1 2\npad_input - 0\npad_input - 1\n"),
            Canonical(R"(kernel k
argument x bf16[3,7]
argument w bf16[3,2]
result y f32[7]
local x_copy bf16[4,8] stack
local w_copy bf16[4,2] stack
for i0 4
| for i1 2
| | w_copy[i0,i1] = where(0 <= i0 < 3, w[i0,i1], bf16(0.0))
for i0 4
| for i1 8
| | x_copy[i0,i1] = where(0 <= i0 < 3 and 0 <= i1-1 < 7, x[i0,i1-1], bf16(0.0))
for i0 7
| y[i0] = 0.0
| for i1 4
| | for i2 2
| | | y[i0] += convert(f32, x_copy[i1,i0+i2]) * convert(f32, w_copy[i1,i2])
)"));
}

TEST(PadSum, IsOfferedForStepsOfAnInstruction) {
  Machine machine;
  EXPECT_THAT(Moves(kConvolution, "pad_sum", machine), IsEmpty());
  machine.has_bf16_dot = true;
  EXPECT_THAT(Moves(kConvolution, "pad_sum", machine),
              ElementsAre("pad_sum 0.1 2"));
}

TEST(PadSum, RefusesOtherLoops) {
  const auto refused = [](const char* loop) {
    return After(std::string(R"(kernel k
argument a f32[5]
argument b f32[5]
result y f32[5]
)") + loop,
                 "pad_sum 0 2");
  };
  EXPECT_THAT(refused("for k 4\n| y[0] += a[k] * b[k]\n"),
              HasSubstr("no divisor"));
  EXPECT_THAT(refused("for k 5\n| y[0] += a[k] + b[k]\n"),
              HasSubstr("a sum of products"));
  EXPECT_THAT(refused("for k 5\n| y[0] max= a[k] * b[k]\n"),
              HasSubstr("a sum of products"));
  EXPECT_THAT(refused("for k 5\n| y[k] += a[k] * b[k]\n"),
              HasSubstr("the target depends"));
  EXPECT_THAT(refused("for k 5\n| y[0] += a[k] * negate(b[k])\n"),
              HasSubstr("not a load"));
  EXPECT_THAT(
      refused("for k 5\n| y[0] += where(0 <= k < 3, a[k], 1.0) * b[k]\n"),
      HasSubstr("not a load"));
  EXPECT_THAT(refused("for k 5 vector\n| y[0] += a[k] * b[k]\n"),
              HasSubstr("is vector"));
}

}  // namespace
}  // namespace hone::loops
