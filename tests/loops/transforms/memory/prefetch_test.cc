#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/loops/program_text.h"
#include "tests/loops/transforms/apply_step.h"
#include "tests/loops/transforms/check_transform.h"

namespace hone::loops {
namespace {

using ::hone::testing::After;
using ::hone::testing::AfterChecked;
using ::hone::testing::Canonical;
using ::hone::testing::Moves;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kStrided[] = R"(kernel k
argument x f32[9,16]
result y f32[9,8]
for i 9
| for j 8 vector
| | y[i,j] = x[i,j]
)";

TEST(Prefetch, MarksTheLoop) {
  EXPECT_EQ(AfterChecked(kStrided, "prefetch 0 4"), Canonical(R"(kernel k
argument x f32[9,16]
result y f32[9,8]
for i 9 prefetch 4
| for j 8 vector
| | y[i,j] = x[i,j]
)"));
  Machine machine;
  machine.l1_bytes = 256;
  EXPECT_THAT(Moves(kStrided, "prefetch", machine),
              ElementsAre("prefetch 0 2", "prefetch 0 8"));
  EXPECT_THAT(Moves(kStrided, "prefetch"), IsEmpty());
}

TEST(Prefetch, IsForLoopsThatMoveALoad) {
  EXPECT_THAT(After(kStrided, "prefetch 0.0 4"), HasSubstr("is vector"));
  EXPECT_THAT(After(kStrided, "prefetch 0 0"), HasSubstr("distance 0"));
  EXPECT_THAT(After(R"(kernel k
argument x f32[9]
result y f32[9,8]
for i 9
| for j 8
| | y[i,j] = x[j]
)",
                    "prefetch 0 4"),
              HasSubstr("nothing in the loop"));
  EXPECT_THAT(After(R"(kernel k
argument x f32[9]
result y f32[9]
for i 9 prefetch 3
| y[i] = x[i]
)",
                    "prefetch 0 4"),
              HasSubstr("already"));
}

TEST(Prefetch, EndsWithTheLoop) {
  for (const char* mode : {"unroll", "parallelize", "vectorize"}) {
    EXPECT_THAT(After(R"(kernel k
argument x f32[9]
result y f32[9]
for i 9 prefetch 3
| y[i] = x[i]
)",
                      std::string(mode) + " 0"),
                Not(HasSubstr("prefetch")));
  }
}

}  // namespace
}  // namespace hone::loops
