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

constexpr char kTwoStatements[] = R"(kernel k
argument x f32[8]
result y f32[8]
local t f32[8] heap
for i 8
| t[i] = exponential(x[i])
| y[i] = negate(t[i])
)";

TEST(Fission, CutsALoop) {
  EXPECT_EQ(After(kTwoStatements, "fission 0 1"), Canonical(R"(kernel k
argument x f32[8]
result y f32[8]
local t f32[8] heap
for i 8
| t[i] = exponential(x[i])
for i 8
| y[i] = negate(t[i])
)"));
  EXPECT_THAT(Moves(kTwoStatements, "fission"), ElementsAre("fission 0 1"));
}

TEST(Fission, SharesOutLocalsAndKeepsBoundAndMode) {
  EXPECT_EQ(After(R"(kernel k
argument x f32[20]
result y f32[20]
result z f32[20]
for o 3
| for i 8 < 20-8*o parallel
| | local t f32[] stack
| | local u f32[] stack
| | t[] = x[8*o+i]
| | y[8*o+i] = t[]
| | u[] = x[8*o+i]
| | z[8*o+i] = u[]
)",
                  "fission 0.0 2"),
            Canonical(R"(kernel k
argument x f32[20]
result y f32[20]
result z f32[20]
for o 3
| for i 8 < 20-8*o parallel
| | local t f32[] stack
| | t[] = x[8*o+i]
| | y[8*o+i] = t[]
| for i 8 < 20-8*o parallel
| | local u f32[] stack
| | u[] = x[8*o+i]
| | z[8*o+i] = u[]
)"));
}

TEST(Fission, RefusesToTakeALocalApart) {
  constexpr char kLocal[] = R"(kernel k
argument x f32[8]
result y f32[8]
for i 8
| local t f32[] stack
| t[] = x[i]
| y[i] = t[]
)";
  EXPECT_EQ(After(kLocal, "fission 0 1"),
            "refused: local t of the loop is used on both sides");
  EXPECT_THAT(Moves(kLocal, "fission"), IsEmpty());
}

// The sums so far would be the whole sum.
TEST(Fission, RefusesToReverseADependence) {
  constexpr char kPrefix[] = R"(kernel k
argument x f32[8]
result y f32[8]
local s f32[] heap
s[] = 0.0
for i 8
| s[] += x[i]
| y[i] = s[]
)";
  EXPECT_EQ(After(kPrefix, "fission 1 1"),
            "refused: iterations that depend on each other would change their "
            "order");
}

TEST(Fission, LeavesReductionsInAnyOrder) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[8]
result s f32[]
s[] = 0.0
for i 8
| s[] += x[i]
| s[] += negate(x[i])
)",
                    "fission 1 1"),
              StartsWith("kernel"));
  EXPECT_THAT(After(R"(kernel k
argument x f32[8]
result s f32[]
s[] = 0.0
for i 8
| s[] += x[i]
| s[] max= x[i]
)",
                    "fission 1 1"),
              StartsWith("refused: iterations"));
}

TEST(Fission, RefusesPositionsWithoutTwoParts) {
  EXPECT_EQ(After(kTwoStatements, "fission 0 0"),
            "refused: position 0, expected 1 … 1");
  EXPECT_EQ(After(kTwoStatements, "fission 0 2"),
            "refused: position 2, expected 1 … 1");
}

}  // namespace
}  // namespace hone::loops
