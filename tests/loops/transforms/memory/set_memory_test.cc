#include <string>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/loops/program_text.h"
#include "tests/loops/transforms/apply_step.h"

namespace hone::loops {
namespace {

using ::hone::testing::After;
using ::hone::testing::Canonical;
using ::testing::HasSubstr;

constexpr char kLocals[] = R"(kernel k
argument x f32[4,8]
argument rows s32[4]
result y f32[4]
local big f32[1024,1024] heap
for i 4
| local t f32[8] stack
| local u f32[8] stack
| for j 8 unrolled
| | t[j] = x[i,j]
| for j 8
| | u[j] = t[j]
| y[i] = t[0] + u[{clamp(s32(0), rows[i], s32(7))}]
| big[i,0] = 0.0
)";

// A copy of kLocals in which nothing but unrolled loops moves t.
std::string Unrolled() {
  return absl::StrReplaceAll(kLocals, {{"for j 8\n", "for j 8 unrolled\n"}});
}

TEST(SetMemory, MovesALocal) {
  EXPECT_EQ(After(Unrolled(), "set_memory - 4 2"),
            absl::StrReplaceAll(Canonical(Unrolled()),
                                {{"t f32[8] stack", "t f32[8] register"}}));
  EXPECT_EQ(After(kLocals, "set_memory - 4 0"),
            absl::StrReplaceAll(Canonical(kLocals),
                                {{"t f32[8] stack", "t f32[8] heap"}}));
}

TEST(SetMemory, RefusesRegistersWithUnknownIndices) {
  EXPECT_THAT(After(kLocals, "set_memory - 4 2"), HasSubstr("unrolled"));
  EXPECT_THAT(After(Unrolled(), "set_memory - 5 2"), HasSubstr("index of u"));
}

TEST(SetMemory, RefusesWhatIsTooLarge) {
  EXPECT_THAT(After(kLocals, "set_memory - 3 1"), HasSubstr("4194304 bytes"));
  EXPECT_THAT(After(kLocals, "set_memory - 3 2"), HasSubstr("4194304 bytes"));
}

TEST(SetMemory, RefusesWhatIsNoChange) {
  EXPECT_THAT(After(kLocals, "set_memory - 4 1"), HasSubstr("already"));
  EXPECT_THAT(After(kLocals, "set_memory - 0 1"), HasSubstr("not a local"));
  EXPECT_THAT(After(kLocals, "set_memory - 9 1"), HasSubstr("is not a buffer"));
  EXPECT_THAT(After(kLocals, "set_memory - 4 3"), HasSubstr("from 0 to 2"));
}

}  // namespace
}  // namespace hone::loops
