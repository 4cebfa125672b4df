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

constexpr char kThree[] = R"(kernel k
argument x f32[8]
result y f32[8]
result z f32[8]
for i 8
| y[i] = x[i]
z[0] = x[0]
for i 7
| z[i+1] = y[i]
)";

TEST(Swap, SwapsNeighbors) {
  EXPECT_EQ(After(kThree, "swap 0"), Canonical(R"(kernel k
argument x f32[8]
result y f32[8]
result z f32[8]
z[0] = x[0]
for i 8
| y[i] = x[i]
for i 7
| z[i+1] = y[i]
)"));
  // z[0] and z[i+1] are never the same element.
  EXPECT_THAT(Moves(kThree, "swap"), ElementsAre("swap 0", "swap 1"));
}

TEST(Swap, RefusesToSwapAProducerWithItsUser) {
  constexpr char kChain[] = R"(kernel k
argument x f32[8]
result y f32[8]
for i 8
| local t f32[] stack
| t[] = x[i]
| y[i] = t[]
)";
  EXPECT_EQ(After(kChain, "swap 0.0"),
            "refused: the next node depends on this one, or this one on the "
            "next");
  EXPECT_EQ(After(kChain, "swap 0.1"),
            "refused: no node follows, expected two in a row");
  EXPECT_EQ(After(kChain, "swap -"),
            "refused: no node at this path, expected one that another follows");
  EXPECT_THAT(Moves(kChain, "swap"), IsEmpty());
}

// Dependences on other iterations of the loop above do not matter, since those
// keep their places.
TEST(Swap, LooksAtOneIterationOnly) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[9]
result y f32[9]
result z f32[9]
y[0] = x[0]
z[0] = x[0]
for i 8
| z[i+1] = y[i]
| y[i+1] = x[i]
)",
                    "swap 2.0"),
              StartsWith("kernel"));
}

}  // namespace
}  // namespace hone::loops
