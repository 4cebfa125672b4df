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

TEST(Parallelise, SharesOutIterations) {
  constexpr char kRows[] = R"(kernel k
argument x f32[4,16]
result y f32[4]
for i 4
| y[i] = 0.0
| for j 16
| | y[i] += x[i,j]
)";
  EXPECT_EQ(After(kRows, "parallelise 0"), Canonical(R"(kernel k
argument x f32[4,16]
result y f32[4]
for i 4 parallel
| y[i] = 0.0
| for j 16
| | y[i] += x[i,j]
)"));
  EXPECT_EQ(After(kRows, "parallelise 0.1"),
            "refused: iterations depend on each other");
  EXPECT_THAT(Moves(kRows, "parallelise", Machine{.threads = 2}),
              ElementsAre("parallelise 0"));
  EXPECT_THAT(Moves(kRows, "parallelise", Machine{.threads = 1}), IsEmpty());
}

TEST(Parallelise, NeedsLocalsOfItsOwn) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[4]
result y f32[4]
for i 4
| local t f32[] stack
| t[] = x[i]
| y[i] = t[]
)",
                    "parallelise 0"),
              StartsWith("kernel"));
  EXPECT_THAT(After(R"(kernel k
argument x f32[4]
result y f32[4]
local t f32[] stack
for i 4
| t[] = x[i]
| y[i] = t[]
)",
                    "parallelise 0"),
              StartsWith("refused: iterations"));
}

TEST(Parallelise, RefusesScopesAboveAndBelow) {
  constexpr char kNested[] = R"(kernel k
result y f32[4,5,6]
for i 4
| for j 5 parallel
| | for l 6
| | | y[i,j,l] = 0.0
)";
  EXPECT_EQ(After(kNested, "parallelise 0"),
            "refused: a scope below is parallel");
  EXPECT_EQ(After(kNested, "parallelise 0.0.0"),
            "refused: a scope above is parallel");
  EXPECT_EQ(After(kNested, "parallelise 0.0"),
            "refused: the scope is parallel, expected sequential");
}

}  // namespace
}  // namespace hone::loops
