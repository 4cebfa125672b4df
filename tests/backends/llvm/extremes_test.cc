#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/ir/literal.h"
#include "tests/backends/native_program.h"
#include "tests/loops/program_text.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::hone::testing::ParseText;

constexpr int64_t kRows = 60;
constexpr int64_t kColumns = 43;

// Returns NaN if either is; -0 < +0.
double Extreme(bool maximum, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  if (a == b) return std::signbit(a) == maximum ? b : a;
  return (a > b) == maximum ? a : b;
}

// Row by row, a number that needs care at one or two of all places among
// others that are all small, all zeros of one sign, or infinite.
hlo::Literal SpecialRows(hlo::ElementType type) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> special = {std::nan(""), -std::nan(""), 0.0, -0.0,
                                       kInfinity,    -kInfinity,    3,   -3};
  const std::vector<double> others = {-1.5, 1.5,       0.0,
                                      -0.0, kInfinity, -kInfinity};
  hlo::Literal rows(hlo::Shape::Array(type, {kRows, kColumns}));
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < kColumns; ++j) {
      const bool is_special = j == i * 11 % kColumns || j == i * 5 % kColumns;
      const std::vector<double>& from = is_special ? special : others;
      rows.SetDouble(
          i * kColumns + j,
          from[static_cast<size_t>(is_special ? i : i / 8) % from.size()]);
    }
  }
  return rows;
}

class ExtremesTest
    : public ::testing::TestWithParam<std::tuple<hlo::ElementType, bool>> {};

// Vectors with partial results over a loop and a remainder, one vector per
// result, and a scalar at a time.
TEST_P(ExtremesTest, OfRowsKeepNanAndTheSignsOfZeros) {
  const auto [type, maximum] = GetParam();
  const loops::Program program = ParseText(absl::StrReplaceAll(
      R"(kernel k
argument x TYPE[60,43]
result y TYPE[60]
result z TYPE[60]
result s TYPE[60]
for i 60
| y[i] = FIRST
| z[i] = FIRST
| s[i] = FIRST
| for j 3
| | for v 16 < 43-16*j vector
| | | y[i] OP x[i,16*j+v]
| for v 43 vector
| | z[i] OP x[i,v]
| for j 43
| | s[i] OP x[i,j]
)",
      {{"TYPE", hlo::ElementTypeName(type)},
       {"FIRST",
        absl::StrCat(hlo::ElementTypeName(type), maximum ? "(-inf)" : "(inf)")},
       {"OP", maximum ? "max=" : "min="}}));
  const hlo::Literal x = SpecialRows(type);
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<hlo::Literal> results,
                            testing::RunNative(program, {x}));
  for (int64_t i = 0; i < kRows; ++i) {
    double expected = maximum ? -std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::infinity();
    for (int64_t j = 0; j < kColumns; ++j) {
      expected = Extreme(maximum, expected, x.AsDouble(i * kColumns + j));
    }
    for (const hlo::Literal& result : results) {
      const double actual = result.AsDouble(i);
      EXPECT_EQ(std::isnan(actual), std::isnan(expected)) << i;
      if (std::isnan(expected)) continue;
      EXPECT_EQ(actual, expected) << i;
      EXPECT_EQ(std::signbit(actual), std::signbit(expected)) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Types, ExtremesTest,
    ::testing::Combine(::testing::Values(hlo::ElementType::kF16,
                                         hlo::ElementType::kBf16,
                                         hlo::ElementType::kF32,
                                         hlo::ElementType::kF64),
                       ::testing::Bool()));

}  // namespace
}  // namespace hone::backends
