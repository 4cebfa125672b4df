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

constexpr char kElementwise[] = R"(kernel k
argument x f32[30,7]
result y f32[30,7]
for i 30
| for j 7
| | y[i,j] = negate(x[i,j])
)";

TEST(Collapse, GoesThroughTheElements) {
  EXPECT_EQ(After(kElementwise, "collapse 0"), Canonical(R"(kernel k
argument x f32[30,7]
result y f32[30,7]
for i 210
| y@[i] = negate(x@[i])
)"));
  EXPECT_THAT(Moves(kElementwise, "collapse"), ElementsAre("collapse 0"));
}

TEST(Collapse, UndoesASplit) {
  EXPECT_EQ(After(R"(kernel k
argument x f32[32]
result y f32[4,32]
for l 4
| for i 4
| | for j 8
| | | y[l,8*i+j] = where(3 <= 8*i+j < 9, x[8*i+j], 0.0)
)",
                  "collapse 0.0"),
            Canonical(R"(kernel k
argument x f32[32]
result y f32[4,32]
for l 4
| for i 32
| | y[l,i] = where(3 <= i < 9, x[i], 0.0)
)"));
}

TEST(Collapse, RefusesWhatWouldNotBeAffine) {
  constexpr char kTransposed[] = R"(kernel k
argument x f32[30,7]
result y f32[7,30]
for i 30
| for j 7
| | y[j,i] = x[i,j]
)";
  EXPECT_EQ(After(kTransposed, "collapse 0"),
            "refused: not all indices, bounds and ranges would stay affine");
  EXPECT_THAT(Moves(kTransposed, "collapse"), IsEmpty());
  // A broadcast of a row.
  EXPECT_THAT(After(R"(kernel k
argument x f32[7]
result y f32[30,7]
for i 30
| for j 7
| | y[i,j] = x[j]
)",
                    "collapse 0"),
              StartsWith("refused: not all"));
  // Elements that lie apart.
  EXPECT_THAT(After(R"(kernel k
argument x f32[3,4]
result y f32[3,4]
local t f32[3,4] stack strides {8,1}
for i 3
| for j 4
| | t[i,j] = x[i,j]
for i 3
| for j 4
| | y[i,j] = t[i,j]
)",
                    "collapse 0"),
              StartsWith("refused: not all"));
  EXPECT_THAT(After(R"(kernel k
argument x f32[3,4]
result y f32[3,4]
for i 3
| for j 4
| | y[i,j] = where(0 <= j-1 < 3, x[i,j-1], 0.0)
)",
                    "collapse 0"),
              StartsWith("refused: not all"));
}

TEST(Collapse, RefusesOtherShapes) {
  EXPECT_EQ(After(kBoundedInner, "collapse 0"),
            "refused: one of the loops has a bound");
  EXPECT_EQ(After(kVectorInner, "collapse 0"),
            "refused: the loops are sequential and vector, expected "
            "sequential ones");
  EXPECT_EQ(After(kElementwise, "collapse 0.0"),
            "refused: the loop has children other than a single loop");
}

}  // namespace
}  // namespace hone::loops
