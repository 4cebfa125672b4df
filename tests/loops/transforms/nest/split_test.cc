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

TEST(Split, DividesALoop) {
  EXPECT_EQ(After(R"(kernel k
argument x f32[64]
result y f32[64]
for i 64
| local t f32[] stack
| t[] = x[i]
| y[63-i] = t[]
)",
                  "split 0 16"),
            Canonical(R"(kernel k
argument x f32[64]
result y f32[64]
for i 4
| for j 16
| | local t f32[] stack
| | t[] = x[16*i+j]
| | y[63-16*i-j] = t[]
)"));
}

TEST(Split, BoundsTheLastTile) {
  EXPECT_EQ(After(R"(kernel k
argument x f32[1000]
result y f32[1000]
for i 1000
| y[i] = x[i]
)",
                  "split 0 16"),
            Canonical(R"(kernel k
argument x f32[1000]
result y f32[1000]
for i 63
| for j 16 < 1000-16*i
| | y[16*i+j] = x[16*i+j]
)"));
}

TEST(Split, SubstitutesInBoundsRangesAndNumbers) {
  EXPECT_EQ(After(R"(kernel k
argument x f32[12]
result y f32[12,4]
for i 12
| for j 4
| | y[i,j] = 0.0
| for j 4 < i+1
| | y[i,j] = where(1 <= i-j < 9, x[i], convert(f32, index(s32, i)))
)",
                  "split 0 4"),
            Canonical(R"(kernel k
argument x f32[12]
result y f32[12,4]
for o 3
| for i 4
| | for j 4
| | | y[4*o+i,j] = 0.0
| | for j 4 < 4*o+i+1
| | | y[4*o+i,j] = where(1 <= 4*o+i-j < 9, x[4*o+i], convert(f32, index(s32, 4*o+i)))
)"));
}

constexpr char kBounded[] = R"(kernel k
argument x f32[100]
result y f32[100]
for i 7
| for j 16 < 100-16*i
| | y[16*i+j] = x[16*i+j]
)";

TEST(Split, KeepsABoundWhereItDivides) {
  EXPECT_EQ(After(kBounded, "split 0.0 4"), Canonical(R"(kernel k
argument x f32[100]
result y f32[100]
for i 7
| for j 4
| | for l 4 < 100-16*i-4*j
| | | y[16*i+4*j+l] = x[16*i+4*j+l]
)"));
  EXPECT_EQ(After(kBounded, "split 0.0 5"),
            "refused: factor 5 does not divide the extent 16 of a loop with a "
            "bound");
}

TEST(Split, RefusesWhatIsNoSplit) {
  EXPECT_THAT(After(kBounded, "split 0 1"), StartsWith("refused: factor 1"));
  EXPECT_THAT(After(kBounded, "split 0 7"), StartsWith("refused: factor 7"));
  EXPECT_EQ(After(kBounded, "split 0"),
            "refused: 0 parameters, expected FACTOR");
  EXPECT_EQ(After(kBounded, "split 1 2"),
            "refused: no node at this path, expected that of a loop");
  EXPECT_EQ(After(kBounded, "split - 2"),
            "refused: no node at this path, expected that of a loop");
  EXPECT_EQ(After(kBounded, "split 0.0.0 2"),
            "refused: a statement at this path, expected a loop");
  EXPECT_EQ(After(R"(kernel k
result y f32[8]
for i 8 vector
| y[i] = 0.0
)",
                  "split 0 2"),
            "refused: the loop is vector, expected sequential");
}

TEST(Split, ProposesFactorsThatPay) {
  EXPECT_THAT(Moves(R"(kernel k
result y f32[56]
for i 56
| y[i] = 0.0
)",
                    "split"),
              ElementsAre("split 0 2", "split 0 4", "split 0 6", "split 0 7",
                          "split 0 8", "split 0 14", "split 0 28"));
  // Three registers of eight lanes each.
  EXPECT_THAT(Moves(R"(kernel k
result y f32[96]
for i 96
| y[i] = 0.0
)",
                    "split"),
              ::testing::Contains("split 0 24"));
  // 16 does not divide evenly, 5 would leave the bound.
  EXPECT_THAT(Moves(R"(kernel k
result y f32[100]
for i 10
| for j 10 < 100-10*i unrolled
| | y[10*i+j] = 0.0
)",
                    "split"),
              ElementsAre("split 0 2", "split 0 5"));
}

}  // namespace
}  // namespace hone::loops
