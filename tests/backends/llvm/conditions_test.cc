#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"

#include "backends/cpu/compiler.h"
#include "loops/text/text.h"
#include "tests/backends/native_program.h"

namespace hone::backends {
namespace {

using ::hone::testing::ExpectTextMatchesInterpreter;

// The loops over what was invalid ask once, not in each iteration. Where loops
// change the condition, or have others too, all statements ask.
TEST(ConditionsTest, LoopsAreSkippedWhereNoStatementHoldsInThem) {
  constexpr char kText[] = R"(
kernel repair
argument x f32[4,37]
argument p f32[2]
result y f32[4,37]
local bad f32[] register
for i 4
| for j 37
| | y[i,j] = x[i,j]
for k 2
| bad[] = p[k] - p[$0]
| for i 4
| | for j 37 vector
| | | y[i,j] = 0.0 if (bad[] != 0.0)
| | for j 5 unrolled
| | | y[i,$1*j+k] = $2 if (bad[] != $3)
)";
  const auto count_conditions = [](const std::string& text) {
    const std::string ir =
        EmitLlvmText(loops::ParseProgram(text).value(), "repair", false)
            .value();
    const std::vector<std::string> parts = absl::StrSplit(ir, "une float");
    return parts.size() - 1;
  };
  const std::string common = absl::Substitute(kText, "0", "7", "2.0", "0.0");
  ExpectTextMatchesInterpreter(common.c_str());
  EXPECT_EQ(count_conditions(common), 1u);
  const std::string others = absl::Substitute(kText, "0", "7", "2.0", "1.0");
  ExpectTextMatchesInterpreter(others.c_str());
  EXPECT_GT(count_conditions(others), 1u);
}

}  // namespace
}  // namespace hone::backends
