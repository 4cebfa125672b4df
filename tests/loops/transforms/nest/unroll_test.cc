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

constexpr char kInner[] = R"(kernel k
argument x f32[100,6]
result y f32[100,6]
for i 100
| for j 6
| | y[i,j] = x[i,j]
)";

TEST(Unroll, WritesALoopOut) {
  EXPECT_EQ(After(kInner, "unroll 0.0"), Canonical(R"(kernel k
argument x f32[100,6]
result y f32[100,6]
for i 100
| for j 6 unrolled
| | y[i,j] = x[i,j]
)"));
  EXPECT_THAT(Moves(kInner, "unroll"), ElementsAre("unroll 0.0"));
}

TEST(Unroll, RefusesLargeCode) {
  EXPECT_EQ(After(R"(kernel k
result y f32[1000]
for i 1000
| y[i] = 0.0
)",
                  "unroll 0"),
            "refused: extent 1000, expected at most 512");
  constexpr char kNested[] = R"(kernel k
result y f32[40,40]
for i 40
| for j 40 unrolled
| | y[i,j] = 0.0
)";
  EXPECT_EQ(After(kNested, "unroll 0"),
            "refused: 1600 statements when written out, expected at most 512");
  EXPECT_EQ(After(R"(kernel k
result y f32[40,40]
for i 40 unrolled
| for j 40
| | y[i,j] = 0.0
)",
                  "unroll 0.0"),
            "refused: 1600 statements when written out, expected at most 512");
}

TEST(Unroll, RefusesLoopsWithAnotherMode) {
  EXPECT_EQ(After(R"(kernel k
result y f32[8]
for i 8 vector
| y[i] = 0.0
)",
                  "unroll 0"),
            "refused: the loop is vector, expected sequential");
}

TEST(Unroll, ProposesStraightLineCodeOnly) {
  EXPECT_THAT(Moves(R"(kernel k
result y f32[4,4,8]
for i 4
| for j 4
| | for l 8 vector
| | | y[i,j,l] = 0.0
)",
                    "unroll"),
              ElementsAre("unroll 0.0"));
}

}  // namespace
}  // namespace hone::loops
