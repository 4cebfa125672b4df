#include <string>

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

TEST(CombineSteps, AddsTheValuesOfAllIterationsFirst) {
  constexpr char kBefore[] = R"(kernel k
argument a s8[8,5]
argument b s8[8,5]
result y s32[5]
for i 5
| y[i] = s32(0)
| for j 4
| | for k 2
| | | y[i] += convert(s32, a[2*j+k,i]) * convert(s32, b[2*j+k,i])
)";
  EXPECT_EQ(AfterChecked(kBefore, "combine_steps 0.1.0"), Canonical(R"(kernel k
argument a s8[8,5]
argument b s8[8,5]
result y s32[5]
for i 5
| y[i] = s32(0)
| for j 4
| | y[i] += convert(s32, a[2*j,i]) * convert(s32, b[2*j,i]) + convert(s32, a[2*j+1,i]) * convert(s32, b[2*j+1,i])
)"));
  EXPECT_THAT(Moves(kBefore, "combine_steps"),
              ElementsAre("combine_steps 0.1.0"));
}

TEST(CombineSteps, AnyReduction) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument a f32[3]
result y f32[]
y[] = -inf
for k 3
| y[] max= a[k]
)",
                         "combine_steps 1"),
            Canonical(R"(kernel k
argument a f32[3]
result y f32[]
y[] = -inf
y[] max= maximum(maximum(a[0], a[1]), a[2])
)"));
}

TEST(CombineSteps, RefusesOtherLoops) {
  const auto refused = [](const char* loop) {
    return After(std::string(R"(kernel k
argument a f32[20]
result y f32[20]
)") + loop,
                 "combine_steps 0");
  };
  EXPECT_THAT(refused("for k 20\n| y[0] += a[k]\n"), HasSubstr("1 … 8 steps"));
  EXPECT_THAT(refused("for k 2\n| y[k] += a[k]\n"),
              HasSubstr("the target depends"));
  EXPECT_THAT(refused("for k 2\n| y[0] = a[k]\n"), HasSubstr("a reduction"));
  EXPECT_THAT(refused("for k 2\n| y[0] += a[k] * y[1]\n"),
              HasSubstr("the value depends on the target"));
  EXPECT_THAT(refused("for k 2\n| y[0] += a[k]\n| y[1] += a[k]\n"),
              HasSubstr("a single statement"));
  EXPECT_THAT(After(R"(kernel k
argument a f32[9]
result y f32[1]
for i 3
| for k 4 < 9-4*i
| | y[0] += a[4*i+k]
)",
                    "combine_steps 0.0"),
              HasSubstr("a bound"));
}

}  // namespace
}  // namespace hone::loops
