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

constexpr char kWindow[] = R"(kernel k
argument x bf16[6]
result y f32[4]
local t bf16[6] heap
for i 6
| t[i] = x[i]
for i 4
| y[i] = 0.0
| for k 3
| | y[i] += convert(f32, t[i+k])
)";

TEST(Widen, ConvertsWhereTheLocalIsWritten) {
  EXPECT_EQ(AfterChecked(kWindow, "widen - 2"), Canonical(R"(kernel k
argument x bf16[6]
result y f32[4]
local t f32[6] heap
for i 6
| t[i] = convert(f32, x[i])
for i 4
| y[i] = 0.0
| for k 3
| | y[i] += t[i+k]
)"));
  EXPECT_THAT(Moves(kWindow, "widen"), ElementsAre("widen - 2"));
}

TEST(Widen, RefusesOtherReadsAndReductions) {
  const auto refused = [](const char* statements) {
    return After(std::string(R"(kernel k
argument x bf16[6]
result y f32[6]
result z bf16[6]
local t bf16[6] heap
for i 6
| t[i] = x[i]
)") + statements,
                 "widen - 3");
  };
  EXPECT_THAT(refused(R"(for i 6
| y[i] = convert(f32, t[i])
| z[i] = t[i]
)"),
              HasSubstr("one wider type"));
  EXPECT_THAT(refused(R"(for i 6
| t[i] += x[i]
for i 6
| y[i] = convert(f32, t[i])
| z[i] = x[i]
)"),
              HasSubstr("no reduction"));
  EXPECT_THAT(After(kWindow, "widen - 0"), HasSubstr("a local"));
  EXPECT_THAT(After(kWindow, "widen 0 2"), HasSubstr("path -"));
}

}  // namespace
}  // namespace hone::loops
