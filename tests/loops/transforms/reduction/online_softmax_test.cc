#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/ir/literal.h"
#include "loops/analysis/verifier.h"
#include "loops/interpreter/interpreter.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/script.h"
#include "tests/loops/difference.h"
#include "tests/loops/program_text.h"
#include "tests/loops/random_program.h"
#include "tests/loops/transforms/apply_step.h"
#include "tests/loops/transforms/check_transform.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

using ::hone::testing::After;
using ::hone::testing::AfterChecked;
using ::hone::testing::Canonical;
using ::hone::testing::Difference;
using ::hone::testing::ParseText;
using ::hone::testing::RandomArguments;
using ::testing::HasSubstr;

TEST(OnlineSoftmax, MergesThePassesOfLogSumExp) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[5,8]
result y f32[5]
local m f32[5] heap
local s f32[5] heap
for i 5
| m[i] = -inf
| for j 8
| | m[i] max= x[i,j]
| s[i] = 0.0
| for j 8
| | s[i] += exponential(x[i,j] - m[i])
| y[i] = m[i] + log(s[i])
)",
                         "online_softmax 0.1", /*exact=*/false),
            Canonical(R"(kernel k
argument x f32[5,8]
result y f32[5]
local m f32[5] heap
local s f32[5] heap
for i0 5
| m[i0] = -inf
| s[i0] = 0.0
| for i1 8
| | local m1 f32[] register
| | m1[] = m[i0]
| | m1[] max= x[i0,i1]
| | s[i0] = select(m[i0] == -inf, 0.0, s[i0] * exponential(m[i0] - m1[]))
| | s[i0] += exponential(x[i0,i1] - m1[])
| | m[i0] = m1[]
| y[i0] = m[i0] + log(s[i0])
)"));
}

TEST(OnlineSoftmax, ScalesOnceABlockAndSumsProducts) {
  EXPECT_EQ(AfterChecked(R"(kernel k
argument x f32[5,8]
argument v f32[8,3]
result y f32[5,3]
local m f32[5] heap
local s f32[5] heap
local o f32[5,3] heap
for i 5
| m[i] = -3e38
| for j 2
| | for k 4
| | | m[i] max= x[i,4*j+k] * 0.5
| s[i] = 0.0
| for d 3
| | o[i,d] = 0.0
| for j 2
| | for k 4
| | | s[i] += exponential(x[i,4*j+k] * 0.5 - m[i])
| | | for d 3
| | | | o[i,d] += exponential(x[i,4*j+k] * 0.5 - m[i]) * v[4*j+k,d]
| for d 3
| | y[i,d] = o[i,d] / s[i]
)",
                         "online_softmax 0.1", /*exact=*/false),
            Canonical(R"(kernel k
argument x f32[5,8]
argument v f32[8,3]
result y f32[5,3]
local m f32[5] heap
local s f32[5] heap
local o f32[5,3] heap
for i0 5
| m[i0] = -3e+38
| s[i0] = 0.0
| for i1 3
| | o[i0,i1] = 0.0
| for i1 2
| | local m1 f32[] register
| | m1[] = m[i0]
| | for i2 4
| | | m1[] max= x[i0,4*i1+i2] * 0.5
| | s[i0] = select(m[i0] == -inf, 0.0, s[i0] * exponential(m[i0] - m1[]))
| | for i2 3
| | | o[i0,i2] = select(m[i0] == -inf, 0.0, o[i0,i2] * exponential(m[i0] - m1[]))
| | for i2 4
| | | s[i0] += exponential(x[i0,4*i1+i2] * 0.5 - m1[])
| | | for i3 3
| | | | o[i0,i3] += exponential(x[i0,4*i1+i2] * 0.5 - m1[]) * v[4*i1+i2,i3]
| | m[i0] = m1[]
| for i1 3
| | y[i0,i1] = o[i0,i1] / s[i0]
)"));
}

std::string Passes(absl::string_view first, absl::string_view begin,
                   absl::string_view second) {
  return absl::StrCat(R"(kernel k
argument x f32[5,8]
argument z f32[5,8]
result y f32[5]
local m f32[5] heap
for i 5
| m[i] = -inf
| for j 8
| | m[i] max= )",
                      first, "\n| y[i] = ", begin, R"(
| for j 8
| | y[i] += )",
                      second, "\n");
}

TEST(OnlineSoftmax, RefusesOtherPasses) {
  EXPECT_THAT(After(Passes("x[i,j]", "0.0", "exponential(x[i,j] - m[i])"),
                    "online_softmax 0.1"),
              HasSubstr("kernel"));
  EXPECT_THAT(After(Passes("x[i,j]", "0.0", "exponential(z[i,j] - m[i])"),
                    "online_softmax 0.1"),
              HasSubstr("different values"));
  EXPECT_THAT(After(Passes("x[i,j]", "1.0", "exponential(x[i,j] - m[i])"),
                    "online_softmax 0.1"),
              HasSubstr("right constant"));
  EXPECT_THAT(After(Passes("x[i,j]", "0.0", "exponential(m[i] - x[i,j])"),
                    "online_softmax 0.1"),
              HasSubstr("exponentials"));
  EXPECT_THAT(After(Passes("x[i,j]", "0.0", "exponential(x[i,7-j] - m[i])"),
                    "online_softmax 0.1"),
              HasSubstr("different values"));
}

// -inf at first, throughout, or beside NaN and inf: as two passes have it.
TEST(OnlineSoftmax, KeepsInfinitiesAndNaN) {
  const Program before =
      ParseText(Passes("x[i,j]", "0.0", "exponential(x[i,j] - m[i])"));
  HONE_ASSERT_OK_AND_ASSIGN(
      const Program after,
      ApplyScript(before, {{"online_softmax", {0, 1}, {}}}));
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::vector<double>> rows = {
      {-inf, -inf, 1, 2, -inf, 0.5, 3, -inf},
      {-inf, -inf, -inf, -inf, -inf, -inf, -inf, -inf},
      {1, 2, inf, 0, 1, 2, 3, 4},
      {0, nan, 1, 2, -inf, 3, 4, 5},
      {-100, 100, -3e38, 3e38, 0, 1, 2, 3}};
  std::vector<hlo::Literal> arguments = RandomArguments(before, 1);
  for (size_t i = 0; i < 40; ++i) {
    arguments[0].SetDouble(static_cast<int64_t>(i), rows[i / 8][i % 8]);
  }
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<hlo::Literal> want,
                            Interpret(before, arguments));
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<hlo::Literal> got,
                            Interpret(after, arguments));
  EXPECT_EQ(Difference(want, got, [](hlo::ElementType) { return 1e-6; }), "");
}

TEST(OnlineSoftmax, RefusesSumsThatItWouldNotScaleOnce) {
  EXPECT_THAT(After(R"(kernel k
argument x f32[4]
argument v f32[2,3]
result y f32[4]
local m f32[] heap
for d 4
| y[d] = 0.0
m[] = -inf
for j 4
| m[] max= x[j]
for j 4
| for d 2
| | for e 3
| | | y[d+e] += exponential(x[j] - m[]) * v[d,e]
)",
                    "online_softmax 2"),
              HasSubstr("several iterations"));
  EXPECT_THAT(After(R"(kernel k
argument x f32[4]
argument v f32[4,4]
result y f32[4]
local m f32[] heap
for d 4
| y[d] = 0.0
m[] = -inf
for j 4
| m[] max= x[j]
for j 4
| for d 4 < j+1
| | y[d] += exponential(x[j] - m[]) * v[j,d]
)",
                    "online_softmax 2"),
              HasSubstr("not every iteration"));
}

// Loops that are not inside of one another may share a variable.
TEST(OnlineSoftmax, KeepsVariablesOfInnerLoopsApart) {
  Program program = ParseText(R"(kernel k
argument x f32[4]
argument v f32[4,3]
result y f32[3]
local m f32[] heap
for d 3
| y[d] = 0.0
m[] = -inf
for j 4
| m[] max= x[j]
for j 4
| for d 3
| | y[d] += exponential(x[j] - m[]) * v[j,d]
)");
  Loop inner = *program.At({3, 0}).loop();
  const VarId var = program.At({2}).loop()->var;
  inner.body = Substitute(inner.body, inner.var, Affine::Var(var));
  inner.var = var;
  program.ReplaceLoop({3, 0}, std::move(inner));
  HONE_ASSERT_OK(VerifyProgram(program));
  HONE_ASSERT_OK_AND_ASSIGN(
      const Program merged,
      ApplyScript(program, {{"online_softmax", {2}, {}}}));
  HONE_EXPECT_OK(
      testing::CheckSame(program, merged, /*exact=*/false, /*seed=*/1));
}

}  // namespace
}  // namespace hone::loops
