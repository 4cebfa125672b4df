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

TEST(Parallelize, SharesOutIterations) {
  constexpr char kRows[] = R"(kernel k
argument x f32[4,16]
result y f32[4]
for i 4
| y[i] = 0.0
| for j 16
| | y[i] += x[i,j]
)";
  EXPECT_EQ(After(kRows, "parallelize 0"), Canonical(R"(kernel k
argument x f32[4,16]
result y f32[4]
for i 4 parallel
| y[i] = 0.0
| for j 16
| | y[i] += x[i,j]
)"));
  EXPECT_EQ(After(kRows, "parallelize 0.1"),
            "refused: iterations depend on each other");
  EXPECT_THAT(Moves(kRows, "parallelize", Machine{.threads = 2}),
              ElementsAre("parallelize 0"));
  EXPECT_THAT(Moves(kRows, "parallelize", Machine{.threads = 1}), IsEmpty());
}

TEST(Parallelize, NeedsLocalsOfItsOwn) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[4]
result y f32[4]
for i 4
| local t f32[] stack
| t[] = x[i]
| y[i] = t[]
)",
                    "parallelize 0"),
              StartsWith("kernel"));
  EXPECT_THAT(After(R"(kernel k
argument x f32[4]
result y f32[4]
local t f32[] stack
for i 4
| t[] = x[i]
| y[i] = t[]
)",
                    "parallelize 0"),
              StartsWith("refused: iterations"));
}

TEST(Parallelize, RefusesLoopsAboveAndBelow) {
  constexpr char kNested[] = R"(kernel k
result y f32[4,5,6]
for i 4
| for j 5 parallel
| | for l 6
| | | y[i,j,l] = 0.0
)";
  EXPECT_EQ(After(kNested, "parallelize 0"),
            "refused: a loop below is parallel");
  EXPECT_EQ(After(kNested, "parallelize 0.0.0"),
            "refused: a loop above is parallel");
  EXPECT_EQ(After(kNested, "parallelize 0.0"),
            "refused: the loop is parallel, expected sequential");
}

}  // namespace
}  // namespace hone::loops
