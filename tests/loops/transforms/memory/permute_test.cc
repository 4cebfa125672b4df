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
using ::hone::testing::Moves;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kTransposed[] = R"(kernel k
argument x f32[4,6,3]
result y f32[6,3,4]
local t f32[4,6,3] heap
for i 4
| for j 6
| | for l 3
| | | t[i,j,l] = x[i,j,l]
for j 6
| for l 3
| | for i 4
| | | y[j,l,i] = t[i,j,l]
)";

TEST(Permute, MakesADimensionContiguous) {
  EXPECT_EQ(AfterChecked(kTransposed, "permute - 2 0"), Canonical(R"(kernel k
argument x f32[4,6,3]
result y f32[6,3,4]
local t f32[4,6,3] heap strides {1,12,4}
for i 4
| for j 6
| | for l 3
| | | t[i,j,l] = x[i,j,l]
for j 6
| for l 3
| | for i 4
| | | y[j,l,i] = t[i,j,l]
)"));
}

TEST(Permute, IsOfferedForEachOtherDimension) {
  EXPECT_THAT(Moves(kTransposed, "permute"),
              ElementsAre("permute - 2 0", "permute - 2 1"));
}

TEST(Permute, RefusesWhatCallersSeeAndLayouts) {
  EXPECT_THAT(After(kMatmul, "permute - 0 0"), HasSubstr("not a local"));
  EXPECT_THAT(After(kTransposed, "permute - 2 3"), HasSubstr("a dimension"));
  EXPECT_THAT(After(R"(kernel k
argument x f32[4,6]
result y f32[4,6]
local t f32[4,6] heap strides {8,1}
for i 4
| for j 6
| | t[i,j] = x[i,j]
for i 4
| for j 6
| | y[i,j] = t[i,j]
)",
                    "permute - 2 0"),
              HasSubstr("layout already"));
}

TEST(Permute, RefusesFlatAccesses) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[24]
result y f32[24]
local t f32[4,6] heap
for i 24
| t@[i] = x[i]
for i 24
| y[i] = t@[i]
)",
                    "permute - 2 0"),
              HasSubstr("flat"));
}

}  // namespace
}  // namespace hone::loops
