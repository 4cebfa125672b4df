#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "loops/transforms/machine.h"
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
using ::testing::IsEmpty;

// The loops along the first dimension are split by two, and once more.
constexpr char kCopied[] = R"(kernel k
argument x bf16[8,3]
result y bf16[4,3]
local t bf16[8,3] heap
for i 4
| for j 2
| | for l 3
| | | t[2*i+j,l] = x[2*i+j,l]
for l 3
| for h 2
| | for i 2
| | | y[2*h+i,l] = t[4*h+2*i,l] + t[4*h+2*i+1,l]
)";

TEST(BlockLayout, MakesIndicesOfABlockAdjacent) {
  EXPECT_EQ(AfterChecked(kCopied, "block_layout - 2 0 2"), Canonical(R"(kernel k
argument x bf16[8,3]
result y bf16[4,3]
local t bf16[4,3,2] heap
for i 4
| for j 2
| | for l 3
| | | t[i,l,j] = x[2*i+j,l]
for l 3
| for h 2
| | for i 2
| | | y[2*h+i,l] = t[2*h+i,l,0] + t[2*h+i,l,1]
)"));
}

TEST(BlockLayout, IsOfferedForStepsOfAnInstruction) {
  Machine machine;
  EXPECT_THAT(Moves(kCopied, "block_layout", machine), IsEmpty());
  machine.has_bf16_dot = true;
  EXPECT_THAT(Moves(kCopied, "block_layout", machine),
              ElementsAre("block_layout - 2 0 2"));
}

TEST(BlockLayout, RefusesLoopsThatAreNotSplit) {
  EXPECT_THAT(After(kCopied, "block_layout - 2 0 4"),
              HasSubstr("loops that are split"));
  EXPECT_THAT(After(R"(kernel k
argument x f32[8]
result y f32[7]
local t f32[8] heap
for i 4
| for j 2
| | t[2*i+j] = x[2*i+j]
for i 7
| y[i] = t[i+1]
)",
                    "block_layout - 2 0 2"),
              HasSubstr("loops that are split"));
}

TEST(BlockLayout, RefusesOtherBuffersAndSizes) {
  EXPECT_THAT(After(kMatmul, "block_layout - 0 0 2"), HasSubstr("not a local"));
  EXPECT_THAT(After(kCopied, "block_layout - 2 1 2"),
              HasSubstr("does not divide"));
  EXPECT_THAT(After(kCopied, "block_layout - 2 2 2"), HasSubstr("a dimension"));
  EXPECT_THAT(After(R"(kernel k
argument x f32[24]
result y f32[24]
local t f32[4,6] heap
for i 24
| t@[i] = x[i]
for i 24
| y[i] = t@[i]
)",
                    "block_layout - 2 0 2"),
              HasSubstr("flat"));
}

}  // namespace
}  // namespace hone::loops
