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

constexpr char kTiles[] = R"(kernel k
argument x f32[1000]
result y f32[1000]
for i 63
| for j 16 < 1000-16*i
| | y[16*i+j] = x[16*i+j]
)";

TEST(Peel, CutsTheIncompleteTileOff) {
  EXPECT_EQ(After(kTiles, "peel 0 62"), Canonical(R"(kernel k
argument x f32[1000]
result y f32[1000]
for i 62
| for j 16
| | y[16*i+j] = x[16*i+j]
for j 8
| y[992+j] = x[992+j]
)"));
  EXPECT_THAT(Moves(kTiles, "peel"), ElementsAre("peel 0 62"));
}

TEST(Peel, KeepsModesAndOtherBounds) {
  EXPECT_EQ(After(R"(kernel k
argument x f32[90]
result y f32[90]
for i 3 parallel
| for j 4
| | for l 8 < 90-32*i-8*j vector
| | | y[32*i+8*j+l] = x[32*i+8*j+l]
)",
                  "peel 0 2"),
            Canonical(R"(kernel k
argument x f32[90]
result y f32[90]
for i 2 parallel
| for j 4
| | for l 8 vector
| | | y[32*i+8*j+l] = x[32*i+8*j+l]
for j 4
| for l 8 < 26-8*j vector
| | y[64+8*j+l] = x[64+8*j+l]
)"));
}

TEST(Peel, LeavesNoVectorOfOneLane) {
  EXPECT_EQ(After(R"(kernel k
result y f32[17]
for i 3
| for j 8 < 17-8*i vector
| | y[8*i+j] = 0.0
)",
                  "peel 0 2"),
            Canonical(R"(kernel k
result y f32[17]
for i 2
| for j 8 vector
| | y[8*i+j] = 0.0
for j 1 unrolled
| y[16+j] = 0.0
)"));
}

TEST(Peel, DecidesWheres) {
  constexpr char kPadded[] = R"(kernel k
argument x f32[8]
result y f32[10]
for i 10
| y[i] = where(0 <= i-1 < 8, x[i-1], 0.0)
)";
  EXPECT_EQ(After(kPadded, "peel 0 1"), Canonical(R"(kernel k
argument x f32[8]
result y f32[10]
y[0] = 0.0
for i 9
| y[i+1] = where(0 <= i < 8, x[i], 0.0)
)"));
  EXPECT_EQ(After(kPadded, "peel 0 9"), Canonical(R"(kernel k
argument x f32[8]
result y f32[10]
for i 9
| y[i] = where(0 <= i-1 < 8, x[i-1], 0.0)
y[9] = 0.0
)"));
  EXPECT_THAT(Moves(kPadded, "peel"), ElementsAre("peel 0 1", "peel 0 9"));
}

TEST(Peel, RemovesLoopsThatNeverRun) {
  EXPECT_EQ(After(R"(kernel k
argument x f32[8]
result y f32[8]
for i 8
| y[i] = x[i]
for i 8
| for j 8 < i
| | y[i] = x[j]
)",
                  "peel 1 1"),
            Canonical(R"(kernel k
argument x f32[8]
result y f32[8]
for i 8
| y[i] = x[i]
for i 7
| for j 8 < i+1
| | y[i+1] = x[j]
)"));
}

TEST(Peel, GivesEachPartItsLocals) {
  EXPECT_EQ(After(R"(kernel k
argument x f32[8]
result y f32[8]
for i 8
| local t f32[] stack
| t[] = x[i]
| y[i] = t[]
)",
                  "peel 0 7"),
            Canonical(R"(kernel k
argument x f32[8]
result y f32[8]
for i 7
| local t f32[] stack
| t[] = x[i]
| y[i] = t[]
for i 1
| local t_1 f32[] stack
| t_1[] = x[i+7]
| y[i+7] = t_1[]
)"));
}

TEST(Peel, RefusesWhatIsNotTwoParts) {
  EXPECT_EQ(After(kTiles, "peel 0 0"), "refused: count 0, expected 1 … 62");
  EXPECT_EQ(After(kTiles, "peel 0 63"), "refused: count 63, expected 1 … 62");
  EXPECT_EQ(After(kTiles, "peel 0.0 8"), "refused: the loop has a bound");
  EXPECT_EQ(After(R"(kernel k
result y f32[8]
for i 8 vector
| y[i] = 0.0
)",
                  "peel 0 4"),
            "refused: the loop is vector");
}

}  // namespace
}  // namespace hone::loops
