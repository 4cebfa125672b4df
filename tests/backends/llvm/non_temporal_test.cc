#include <string>
#include <utility>
#include <vector>

#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "backends/cpu/compiler.h"
#include "loops/text/text.h"
#include "tests/backends/native_program.h"
#include "tests/loops/example_programs.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::hone::testing::ExpectMatchesInterpreter;
using ::hone::testing::ExpectTextMatchesInterpreter;
using ::testing::HasSubstr;

TEST(NonTemporalStores, OfAnyAlignment) {
  ExpectTextMatchesInterpreter(R"(
kernel stream
argument x f32[1000]
result y f32[1000]
for i 63
| for v 16 < 1000-16*i vector
| | y[16*i+v] = x[16*i+v] + 1.0 nontemporal
)");
}

// Arrays begin one element past a multiple of 64 bytes: y[15] is at the next
// one, y[15+12*i] at multiples of 16, only some of which are multiples of 32.
TEST(NonTemporalStores, OfOddVectors) {
  ExpectTextMatchesInterpreter(R"(
kernel stream
argument x f32[120]
result y f32[135]
for j 15
| y[j] = 0.0
for i 10
| for v 12 vector
| | y[12*i+v+15] = x[12*i+v] + 1.0 nontemporal
)");
}

// What is stored twice in the code, aligned and not, stays so.
TEST(NonTemporalStores, StayWhatTheyAre) {
  for (const auto& [type, lanes] :
       std::vector<std::pair<std::string, int>>{{"f32", 16},
                                                {"f32", 12},
                                                {"f64", 8},
                                                {"bf16", 32},
                                                {"s32", 16},
                                                {"s8", 64},
                                                {"u8", 24}}) {
    const std::string text = absl::Substitute(R"(
kernel stream
argument x $0[$1]
result y $0[$1]
for i 64
| for v $2 vector
| | y[$2*i+v] = x[$2*i+v] + x[v] nontemporal
)",
                                              type, 64 * lanes, lanes);
    SCOPED_TRACE(text);
    HONE_ASSERT_OK_AND_ASSIGN(const loops::Program program,
                              loops::ParseProgram(text));
    HONE_ASSERT_OK_AND_ASSIGN(const std::string code,
                              EmitLlvmText(program, "stream", true));
    EXPECT_THAT(code, HasSubstr("!nontemporal"));
    ExpectMatchesInterpreter(program, testing::NormalArguments(program));
  }
}

}  // namespace
}  // namespace hone::backends
