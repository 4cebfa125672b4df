#include "loops/lowering/rewrites/shorten_erfc.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

#include "loops/lowering/prepare.h"
#include "tests/loops/lowering/lowered.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

// x·erfc(-x/√2)/2, as JAX emits it.
std::string Gelu() {
  std::ifstream file(HONE_SOURCE_DIR
                     "/tests/testdata/kernels/gelu_erf_7x19.hlo");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

int CountMaps(const hlo::Module& module) {
  const auto entry = module.computation(module.entry()).instructions();
  int count = 0;
  for (const hlo::Instruction& i : entry) {
    count += i.opcode() == hlo::Opcode::kMap ? 1 : 0;
  }
  return count;
}

int CountMaps(const std::string& text) {
  const absl::StatusOr<hlo::Module> prepared =
      PrepareForLowering(ParseModule(text));
  HONE_EXPECT_OK(prepared);
  return prepared.ok() ? CountMaps(*prepared) : -1;
}

TEST(ShortenErfc, OfJax) {
  EXPECT_EQ(CountMaps(Gelu()), 1);
  ExpectLowersRight(Gelu());
  ExpectPlansRight(Gelu());
}

TEST(ShortenErfc, WithFactorsAndTermsInEitherOrder) {
  std::vector<std::string> lines = absl::StrSplit(Gelu(), '\n');
  for (std::string& line : lines) {
    if (!absl::StrContains(line, "erfc.") ||
        (!absl::StrContains(line, " multiply(") &&
         !absl::StrContains(line, " add("))) {
      continue;
    }
    const size_t open = line.rfind('(');
    const std::vector<std::string> operands =
        absl::StrSplit(line.substr(open + 1, line.size() - open - 2), ", ");
    ASSERT_EQ(operands.size(), 2);
    line = absl::StrCat(line.substr(0, open + 1), operands[1], ", ",
                        operands[0], ")");
  }
  EXPECT_EQ(CountMaps(absl::StrJoin(lines, "\n")), 1);
}

TEST(ShortenErfc, NotWithAnotherConstant) {
  std::vector<std::string> lines = absl::StrSplit(Gelu(), '\n');
  int changed = 0;
  for (std::string& line : lines) {
    const size_t open = line.find("constant(");
    // Those of GELU itself.
    if (open == std::string::npos || absl::StrContains(line, "(0.5)") ||
        absl::StrContains(line, "(0.707106769)")) {
      continue;
    }
    const std::string original = line;
    const float value = std::strtof(line.c_str() + open + 9, nullptr);
    line = absl::StrFormat("%s(%.9g)", line.substr(0, open + 8),
                           std::nextafter(value, 100.0F));
    EXPECT_EQ(CountMaps(absl::StrJoin(lines, "\n")), 0) << line;
    line = original;
    ++changed;
  }
  EXPECT_EQ(changed, 28);
}

TEST(ShortenErfc, NotOfOtherOperations) {
  const std::vector<std::pair<std::string, std::string>> changes = {
      // Another argument in one place.
      {"abs(mul.8)", "abs(x.1)"},
      {"multiply(mul.8, mul.8)", "multiply(mul.8, x.1)"},
      {"multiply(mul.8, erfc.174)", "multiply(x.1, erfc.174)"},
      {"compare(mul.8, erfc.97)", "compare(x.1, erfc.97)"},
      // Other comparisons.
      {"compare(erfc.177, broadcast.1), direction=LT",
       "compare(erfc.177, broadcast.1), direction=LE"},
      {"compare(erfc.118, erfc.98), direction=LT",
       "compare(erfc.118, erfc.98), direction=GT"},
      {"compare(erfc.119, erfc.116)", "compare(erfc.116, erfc.119)"},
      // Other choices.
      {"select(erfc.124, erfc.140, erfc.154)",
       "select(erfc.124, erfc.154, erfc.140)"},
      {"select(erfc.159, erfc.160, erfc.158)",
       "select(erfc.159, erfc.158, erfc.160)"},
      {"select(erfc.178, erfc.176, erfc.161)",
       "select(erfc.178, erfc.161, erfc.176)"},
      // Other arithmetic.
      {"subtract(broadcast.1, erfc.175)", "add(broadcast.1, erfc.175)"},
      {"subtract(erfc.116, erfc.158)", "subtract(erfc.158, erfc.116)"},
      {"negate(erfc.117)", "abs(erfc.117)"},
      {"exponential(erfc.118)", "exponential(erfc.117)"},
      {"divide(broadcast.1, erfc.117)", "divide(broadcast.1, erfc.119)"},
      {"multiply(erfc.142, erfc.120)", "multiply(erfc.142, erfc.117)"},
      {"add(erfc.167, erfc.93)", "subtract(erfc.167, erfc.93)"}};
  for (const auto& [from, to] : changes) {
    const std::string text = Gelu();
    const std::string changed = absl::StrReplaceAll(text, {{from, to}});
    ASSERT_NE(changed, text) << from;
    EXPECT_EQ(CountMaps(changed), 0) << to;
  }
}

TEST(ShortenErfc, InAnEpilogue) {
  // The dot and what follows are one kernel, without the product in memory.
  const std::string text = absl::StrReplaceAll(
      Gelu(), {{"x.1 = f32[7,19]{1,0} parameter(0)",
                "a = f32[7,5] parameter(0)\n  b = f32[5,19] parameter(1)\n"
                "  x.1 = f32[7,19] dot(a, b), lhs_contracting_dims={1}, "
                "rhs_contracting_dims={0}"},
               {"{(f32[7,19]{1,0})->", "{(f32[7,5]{1,0}, f32[5,19]{1,0})->"}});
  EXPECT_EQ(ExpectPlansRight(text).kernels.size(), 1);
}

}  // namespace
}  // namespace hone::loops
