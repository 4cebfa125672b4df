#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/loops/program_text.h"
#include "tests/loops/transforms/apply_step.h"

namespace hone::loops {
namespace {

using ::hone::testing::After;
using ::hone::testing::Canonical;
using ::hone::testing::Moves;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kTwoLoops[] = R"(kernel k
argument x f32[64,48]
result y f32[48,64]
for i 64
| for j 48
| | y[j,i] = x[i,j]
)";

TEST(Tile, SplitsBothAndSwapsTheMiddle) {
  EXPECT_EQ(After(kTwoLoops, "tile 0 8 32"), Canonical(R"(kernel k
argument x f32[64,48]
result y f32[48,64]
for io 8
| for jo 2
| | for ii 8
| | | for ji 32 < 48-32*jo
| | | | y[32*jo+ji,8*io+ii] = x[8*io+ii,32*jo+ji]
)"));
}

// Whole loops may not change places; rows that depend on each other are never
// in one block of two.
TEST(Tile, AllowsBlocksThatDependencesDoNotLeave) {
  constexpr char kFar[] = R"(kernel k
result y f32[8,12]
for i 8
| for j 12
| | y[i,j] = 1.0
for i 6
| for j 8
| | y[i+2,j] = y[i,j+4]
)";
  EXPECT_THAT(After(kFar, "reorder 1"), StartsWith("refused"));
  EXPECT_THAT(After(kFar, "tile 1 2 4"), StartsWith("kernel"));
}

TEST(Tile, RefusesWhatItsPartsRefuse) {
  EXPECT_EQ(After(kTwoLoops, "tile 0 64 8"),
            "refused: step 1 (split 0 64): factor 64, expected at least 2 and "
            "less than the extent 64");
  EXPECT_EQ(After(kTwoLoops, "tile 0.0 2 2"),
            "refused: the loop has children other than a single loop");
  EXPECT_EQ(After(R"(kernel k
result y f32[8,12]
for i 8
| for j 12
| | y[i,j] = 1.0
for i 7
| for j 11
| | y[i+1,j] = y[i,j+1]
)",
                  "tile 1 2 2"),
            "refused: step 3 (reorder 1.0): iterations that depend on each "
            "other would change their order");
}

TEST(Tile, ProposesBlocksThatFit) {
  EXPECT_THAT(Moves(kTwoLoops, "tile"),
              ElementsAre("tile 0 8 8", "tile 0 32 8"));
}

}  // namespace
}  // namespace hone::loops
