#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/loops/program_text.h"
#include "tests/loops/transforms/apply_step.h"
#include "tests/loops/transforms/shared_programs.h"

namespace hone::loops {
namespace {

using ::hone::testing::After;
using ::hone::testing::Canonical;
using ::hone::testing::kBoundedInner;
using ::hone::testing::kVectorInner;
using ::hone::testing::Moves;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kTransposed[] = R"(kernel k
argument x f32[4,6]
result y f32[6,4]
for i 4
| for j 6
| | y[j,i] = x[i,j]
)";

TEST(Reorder, SwapsTwoLoops) {
  EXPECT_EQ(After(kTransposed, "reorder 0"), Canonical(R"(kernel k
argument x f32[4,6]
result y f32[6,4]
for j 6
| for i 4
| | y[j,i] = x[i,j]
)"));
  EXPECT_THAT(Moves(kTransposed, "reorder"), ElementsAre("reorder 0"));
}

TEST(Reorder, CarriesBoundsModesAndLocalsAlong) {
  EXPECT_EQ(After(R"(kernel k
argument x f32[20,4]
result y f32[20,4]
for o 3
| for i 8 < 20-8*o
| | for j 4 unrolled
| | | local t f32[] register
| | | t[] = x[8*o+i,j]
| | | y[8*o+i,j] = t[]
)",
                  "reorder 0.0"),
            Canonical(R"(kernel k
argument x f32[20,4]
result y f32[20,4]
for o 3
| for j 4 unrolled
| | for i 8 < 20-8*o
| | | local t f32[] register
| | | t[] = x[8*o+i,j]
| | | y[8*o+i,j] = t[]
)"));
}

TEST(Reorder, ReordersReductions) {
  EXPECT_EQ(After(R"(kernel k
argument x f32[4,6]
result y f32[]
y[] = 0.0
for i 4
| for j 6
| | y[] += x[i,j]
)",
                  "reorder 1"),
            Canonical(R"(kernel k
argument x f32[4,6]
result y f32[]
y[] = 0.0
for j 6
| for i 4
| | y[] += x[i,j]
)"));
}

// y[i,j] needs y[i-1,j+1], which runs after it then.
constexpr char kSkewed[] = R"(kernel k
argument x f32[5,6]
result y f32[5,6]
for i 5
| for j 6
| | y[i,j] = x[i,j]
for i 4
| for j 5
| | y[i+1,j] = y[i,j+1]
)";

TEST(Reorder, RefusesToReverseADependence) {
  EXPECT_EQ(After(kSkewed, "reorder 1"),
            "refused: iterations that depend on each other would change their "
            "order");
  EXPECT_THAT(Moves(kSkewed, "reorder"), ElementsAre("reorder 0"));
}

TEST(Reorder, KeepsADependenceAlongBoth) {
  EXPECT_THAT(After(R"(kernel k
result y f32[5,6]
for i 5
| for j 6
| | y[i,j] = 1.0
for i 4
| for j 5
| | y[i+1,j+1] = y[i,j]
)",
                    "reorder 1"),
              StartsWith("kernel"));
}

TEST(Reorder, RefusesOtherShapes) {
  EXPECT_EQ(After(R"(kernel k
result y f32[4,6]
for i 4
| for j 6
| | y[i,j] = 0.0
| for j 6
| | y[i,j] = 1.0
)",
                  "reorder 0"),
            "refused: the loop has children other than a single loop");
  EXPECT_EQ(After(kBoundedInner, "reorder 0"),
            "refused: the inner loop's bound depends on the outer one");
  EXPECT_EQ(After(kVectorInner, "reorder 0"),
            "refused: the inner loop is vector, expected sequential or "
            "unrolled");
  EXPECT_EQ(After(R"(kernel k
result y f32[4]
for i 4
| local t f32[2] stack
| for j 2
| | t[j] = 0.0
| | y[i] = t[j]
)",
                  "reorder 0"),
            "refused: the outer loop has locals");
}

}  // namespace
}  // namespace hone::loops
