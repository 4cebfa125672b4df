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

constexpr char kChain[] = R"(kernel k
argument x f32[8]
result y f32[8]
local t f32[8] heap
for i 8
| t[i] = exponential(x[i])
for j 8
| y[j] = negate(t[j])
)";

TEST(Fuse, JoinsTwoLoops) {
  EXPECT_EQ(After(kChain, "fuse 0"), Canonical(R"(kernel k
argument x f32[8]
result y f32[8]
local t f32[8] heap
for i 8
| t[i] = exponential(x[i])
| y[i] = negate(t[i])
)"));
  EXPECT_THAT(Moves(kChain, "fuse"), ElementsAre("fuse 0"));
}

TEST(Fuse, JoinsLocals) {
  EXPECT_EQ(After(R"(kernel k
argument x f32[8]
result y f32[8]
result z f32[8]
for i 8
| local t f32[] stack
| t[] = x[i]
| y[i] = t[]
for i 8
| local u f32[] stack
| u[] = x[i]
| z[i] = u[]
)",
                  "fuse 0"),
            Canonical(R"(kernel k
argument x f32[8]
result y f32[8]
result z f32[8]
for i 8
| local t f32[] stack
| local u f32[] stack
| t[] = x[i]
| y[i] = t[]
| u[] = x[i]
| z[i] = u[]
)"));
}

TEST(Fuse, AllowsEarlierIterationsOfTheFirst) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[9]
result y f32[8]
local t f32[9] heap
t[0] = x[0]
for i 8
| t[i+1] = x[i+1]
for i 8
| y[i] = t[i]
)",
                    "fuse 1"),
              StartsWith("kernel"));
}

TEST(Fuse, RefusesToReadBeforeTheWrite) {
  constexpr char kAhead[] = R"(kernel k
argument x f32[8]
result y f32[7]
local t f32[8] heap
for i 7
| t[i] = x[i]
t[7] = x[7]
for i 7
| y[i] = t[i]
for i 7
| y[i] = t[i+1]
)";
  EXPECT_THAT(After(kAhead, "fuse 2"), StartsWith("kernel"));
  EXPECT_EQ(After(R"(kernel k
argument x f32[8]
result y f32[7]
local t f32[8] heap
t[0] = x[0]
for i 7
| t[i] = x[i]
for i 7
| y[i] = t[6-i]
)",
                  "fuse 1"),
            "refused: iterations that depend on each other would change their "
            "order");
}

TEST(Fuse, RefusesToOverwriteWhatIsStillRead) {
  EXPECT_EQ(After(R"(kernel k
argument x f32[8]
result y f32[8]
local t f32[8] heap
for i 8
| t[i] = x[i]
for i 7
| y[i] = t[i+1]
for i 7
| t[i] = x[i+1]
y[7] = t[7]
)",
                  "fuse 1"),
            Canonical(R"(kernel k
argument x f32[8]
result y f32[8]
local t f32[8] heap
for i 8
| t[i] = x[i]
for i 7
| y[i] = t[i+1]
| t[i] = x[i+1]
y[7] = t[7]
)"));
  EXPECT_THAT(After(R"(kernel k
argument x f32[8]
result y f32[8]
local t f32[8] heap
for i 8
| t[i] = x[i]
for i 7
| y[i] = t[i]
for i 7
| t[i+1] = x[i]
y[7] = t[7]
)",
                    "fuse 1"),
              StartsWith("refused: iterations"));
}

TEST(Fuse, ParallelIterationsMustNotMeet) {
  constexpr char kParallel[] = R"(kernel k
argument x f32[9]
result y f32[8]
local t f32[9] heap
t[0] = x[0]
for i 8 parallel
| t[i+1] = x[i+1]
for i 8 parallel
| y[i] = t[i]
)";
  EXPECT_EQ(After(kParallel, "fuse 1"),
            "refused: iterations that depend on each other would change their "
            "order");
}

TEST(Fuse, RefusesDifferentLoops) {
  constexpr char kDifferent[] = R"(kernel k
result y f32[8]
result z f32[9]
for i 8
| y[i] = 0.0
for i 9
| z[i] = 0.0
for i 9 unrolled
| z[i] = 1.0
z[0] = 0.0
)";
  EXPECT_EQ(After(kDifferent, "fuse 0"),
            "refused: extents 8 and 9, expected equal extents and bounds");
  EXPECT_EQ(After(kDifferent, "fuse 1"),
            "refused: modes sequential and unrolled, expected equal ones");
  EXPECT_EQ(After(kDifferent, "fuse 2"), "refused: no loop follows");
  EXPECT_THAT(Moves(kDifferent, "fuse"), IsEmpty());
}

}  // namespace
}  // namespace hone::loops
