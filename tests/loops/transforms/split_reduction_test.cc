#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/loops/transforms/apply_step.h"
#include "tests/loops/transforms/check_transform.h"

namespace hone::loops {
namespace {

using ::hone::testing::After;
using ::hone::testing::AfterChecked;
using ::hone::testing::Canonical;
using ::testing::HasSubstr;

constexpr char kMatmul[] = R"(kernel matmul
argument a f32[4,8]
argument b f32[8,6]
result c f32[4,6]
for i 4
| for j 6
| | c[i,j] = 0.0
| | for k 8
| | | c[i,j] += a[i,k] * b[k,j]
)";

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
  EXPECT_THAT(After(R"(kernel k
argument x f32[8,3]
argument w f32[4]
result y f32[6]
for i 6
| y[i] = 0.0
for k 8
| for i 3
| | for j 4
| | | y[i+j] += x[k,i] * w[j]
)",
                    "split_reduction 1 2 4"),
              HasSubstr("several iterations"));
}

}  // namespace
}  // namespace hone::loops
