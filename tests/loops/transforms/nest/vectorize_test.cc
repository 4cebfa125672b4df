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
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(Vectorize, TurnsIterationsIntoLanes) {
  constexpr char kCopy[] = R"(kernel k
argument x f32[4,16]
result y f32[4,16]
for i 4
| for j 16
| | y[i,j] = x[i,j]
)";
  EXPECT_EQ(After(kCopy, "vectorize 0.0"), Canonical(R"(kernel k
argument x f32[4,16]
result y f32[4,16]
for i 4
| for j 16 vector
| | y[i,j] = x[i,j]
)"));
  EXPECT_THAT(Moves(kCopy, "vectorize"), ElementsAre("vectorize 0.0"));
  EXPECT_EQ(After(kCopy, "vectorize 0"), "refused: the loop has inner loops");
}

TEST(Vectorize, GivesLocalsAPlaceForEachLane) {
  EXPECT_EQ(After(R"(kernel k
argument x f32[4,16]
result y f32[4,16]
for i 4
| for j 16
| | local t f32[] register
| | t[] = x[i,j] * x[i,j]
| | y[i,j] = t[] + t[]
)",
                  "vectorize 0.0"),
            Canonical(R"(kernel k
argument x f32[4,16]
result y f32[4,16]
for i 4
| local t f32[16] register
| for j 16 vector
| | t[j] = x[i,j] * x[i,j]
| | y[i,j] = t[j] + t[j]
)"));
}

TEST(Vectorize, ReducesOverLanes) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[16]
result y f32[]
y[] = 0.0
for i 16
| y[] += x[i]
)",
                    "vectorize 1"),
              StartsWith("kernel"));
}

TEST(Vectorize, RefusesTooFewAndTooManyLanes) {
  EXPECT_EQ(After(R"(kernel k
result y f32[65]
for i 65
| y[i] = 0.0
)",
                  "vectorize 0"),
            "refused: extent 65, expected 2 … 64 lanes");
  EXPECT_EQ(After(R"(kernel k
result y f32[1]
for i 1
| y[i] = 0.0
)",
                  "vectorize 0"),
            "refused: extent 1, expected 2 … 64 lanes");
}

TEST(Vectorize, RefusesCarriedDependences) {
  constexpr char kRunningSum[] = R"(kernel k
argument x f32[8]
result y f32[9]
y[0] = 0.0
for i 8
| y[i+1] = y[i] + x[i]
)";
  EXPECT_EQ(After(kRunningSum, "vectorize 1"),
            "refused: iterations depend on each other");
  EXPECT_THAT(Moves(kRunningSum, "vectorize"), IsEmpty());
  // The sums so far are read in between.
  EXPECT_THAT(After(R"(kernel k
argument x f32[8]
result y f32[8]
local s f32[] heap
s[] = 0.0
for i 8
| s[] += x[i]
| y[i] = s[]
)",
                    "vectorize 1"),
              StartsWith("refused: iterations"));
  // Every lane would write the same element.
  EXPECT_THAT(After(R"(kernel k
argument x f32[8]
result y f32[]
for i 8
| y[] = x[i]
)",
                    "vectorize 0"),
              StartsWith("refused: iterations"));
}

// A lane's part of the sum would be added to what another lane just stored.
TEST(Vectorize, RefusesReductionsThatLanesCannotKeepApart) {
  EXPECT_THAT(After(R"(kernel k
argument at s32[8]
argument x f32[8]
result y f32[8]
for i 8
| y[i] = 0.0
for i 8
| y[{at[i]}] += x[i]
)",
                    "vectorize 1"),
              StartsWith("refused: iterations"));
  EXPECT_THAT(After(R"(kernel k
argument x f32[8]
result y f32[8]
for i 8
| y[i] = 0.0
for i 8
| y[0] += x[i]
| y[i] += x[i]
)",
                    "vectorize 1"),
              StartsWith("refused: iterations"));
  EXPECT_THAT(After(R"(kernel k
argument x f32[8]
result y f32[8]
for i 8
| y[i] = 0.0
for i 8
| y[i] += x[i]
| y[i] += 1.0
)",
                    "vectorize 1"),
              StartsWith("kernel"));
}

// Its row-major numbers would be others with a place for each lane.
TEST(Vectorize, RefusesLocalsThatAreAccessedAsFlat) {
  constexpr char kFlat[] = R"(kernel k
argument x f32[8]
result y f32[8]
for i 8
| local t f32[1,1] stack
| t@[0] = x[i]
| y[i] = t@[0]
)";
  EXPECT_THAT(After(kFlat, "vectorize 0"), HasSubstr("as flat"));
  EXPECT_THAT(Moves(kFlat, "vectorize"), IsEmpty());
}

}  // namespace
}  // namespace hone::loops
