#include "hlo/analysis/canonical.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::testing::ElementsAre;

// The names of the instructions in canonical order.
std::vector<std::string> Order(const std::string& lines,
                               const std::string& header = "") {
  absl::StatusOr<Module> module = ParseHloText(
      absl::StrCat("HloModule m", header, "\nENTRY main {\n", lines, "}\n"));
  HONE_EXPECT_OK(module);
  std::vector<std::string> names;
  if (!module.ok()) return names;
  for (const InstructionId id : CanonicalOrder(*module)) {
    names.push_back(module->entry_computation()[id].name());
  }
  return names;
}

TEST(CanonicalOrder, IsThatOfTheOperandsAndNotOfTheLines) {
  const std::string x = "x = f32[4] parameter(0)\n";
  const std::string y = "y = f32[4] parameter(1)\n";
  const std::string e = "e = f32[4] exponential(y)\n";
  const std::string n = "n = f32[4] negate(x)\n";
  const std::string dead = "dead = f32[4] abs(x)\n";
  const std::string r = "ROOT r = f32[4] subtract(e, n)\n";
  EXPECT_THAT(Order(x + y + e + n + dead + r),
              ElementsAre("x", "y", "e", "n", "r", "dead"));
  EXPECT_THAT(Order(r + dead + n + e + y + x),
              ElementsAre("x", "y", "e", "n", "r", "dead"));
}

TEST(CanonicalOrder, ControlPredecessorsComeBefore) {
  EXPECT_THAT(Order("x = f32[4] parameter(0)\n"
                    "late = f32[4] negate(x), control-predecessors={first}\n"
                    "first = f32[4] abs(x)\n"
                    "ROOT r = f32[4] add(late, first)\n"),
              ElementsAre("x", "first", "late", "r"));
}

TEST(CanonicalOrder, AScheduleStays) {
  EXPECT_THAT(Order("x = f32[4] parameter(0)\n"
                    "n = f32[4] negate(x)\n"
                    "e = f32[4] exponential(x)\n"
                    "ROOT r = f32[4] subtract(e, n)\n",
                    ", is_scheduled=true"),
              ElementsAre("x", "n", "e", "r"));
}

}  // namespace
}  // namespace hone::hlo
