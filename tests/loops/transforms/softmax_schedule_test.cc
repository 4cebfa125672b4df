#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "loops/text/text.h"
#include "loops/transforms/script.h"
#include "tests/loops/program_text.h"
#include "tests/loops/transforms/check_transform.h"

namespace hone::loops {
namespace {

using ::hone::testing::AfterChecked;
using ::hone::testing::Canonical;

std::string Softmax(int64_t rows, int64_t columns) {
  return absl::StrReplaceAll(
      R"(kernel softmax
argument x f32[R,C]
result y f32[R,C]
local m f32[R] heap
local s f32[R] heap
for i R
| m[i] = -inf
| for j C
| | m[i] max= x[i,j]
for i R
| for j C
| | y[i,j] = exponential(x[i,j] - m[i])
for i R
| s[i] = 0.0
| for j C
| | s[i] += y[i,j]
for i R
| for j C
| | y[i,j] = y[i,j] / s[i]
)",
      {{"R", absl::StrCat(rows)}, {"C", absl::StrCat(columns)}});
}

std::string Script(int64_t lanes) {
  std::stringstream text;
  text << std::ifstream(
              absl::StrCat(HONE_SOURCE_DIR,
                           "/tests/loops/transforms/schedules/softmax.script"))
              .rdbuf();
  return absl::StrReplaceAll(text.str(), {{"{lanes}", absl::StrCat(lanes)}});
}

TEST(SoftmaxSchedule, WorksOnRowsWithVectors) {
  EXPECT_EQ(AfterChecked(Softmax(6, 32), Script(8), /*exact=*/false),
            Canonical(R"(kernel softmax
argument x f32[6,32]
result y f32[6,32]
for i0 6 parallel
| local m f32[] register
| local s f32[] register
| local m_parts f32[8] register
| local s_parts f32[8] register
| m[] = -inf
| for i1 8 vector
| | m_parts[i1] = -inf
| for i1 4
| | for i2 8 vector
| | | m_parts[i2] max= x[i0,8*i1+i2]
| for i1 8 vector
| | m[] max= m_parts[i1]
| s[] = 0.0
| for i1 8 vector
| | s_parts[i1] = -0.0
| for i1 4
| | for i2 8 vector
| | | y[i0,8*i1+i2] = exponential(x[i0,8*i1+i2] - m[])
| | | s_parts[i2] += y[i0,8*i1+i2]
| for i1 8 vector
| | s[] += s_parts[i1]
| for i1 4
| | for i2 8 vector
| | | y[i0,8*i1+i2] = y[i0,8*i1+i2] / s[]
)"));
}

TEST(SoftmaxSchedule, ComputesTheSameForOddSizes) {
  for (int64_t columns : {9, 15, 23}) {
    EXPECT_TRUE(absl::StartsWith(
        AfterChecked(Softmax(5, columns), Script(8), /*exact=*/false),
        "kernel"));
  }
}

}  // namespace
}  // namespace hone::loops
