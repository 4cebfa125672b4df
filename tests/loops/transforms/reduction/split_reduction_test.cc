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
using ::hone::testing::kSharedTargets;
using ::testing::HasSubstr;

TEST(SplitReduction, CombinesPartsAsATree) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[10]
result y f32[]
y[] = -inf
for i 10
| y[] max= x[i]
)",
                         "split_reduction 1 1 4", /*exact=*/false),
            Canonical(R"(kernel k
argument x f32[10]
result y f32[]
local y_parts f32[4] stack
y[] = -inf
for i0 4
| y_parts[i0] = -inf
for i0 3
| for i1 4 < 10-4*i0
| | y_parts[i1] max= x[4*i0+i1]
for i0 2
| y_parts[i0] max= y_parts[i0+2]
y_parts[0] max= y_parts[1]
y[] max= y_parts[0]
)"));
}

TEST(SplitReduction, RefusesWhatIsNoPowerOfTwo) {
  EXPECT_THAT(After(kMatmul, "split_reduction 0.0.1 2 3"),
              HasSubstr("power of two"));
  EXPECT_THAT(After(kMatmul, "split_reduction 0.0.1 2 16"),
              HasSubstr("power of two"));
}

TEST(SplitReduction, RefusesOtherTargets) {
  EXPECT_THAT(After(kMatmul, "split_reduction 0.0.1 0 2"),
              HasSubstr("other than one reduction"));
}

TEST(SplitReduction, RefusesTargetsThatSeveralIterationsShare) {
  EXPECT_THAT(After(kSharedTargets, "split_reduction 1 2 4"),
              HasSubstr("several iterations"));
}

}  // namespace
}  // namespace hone::loops
