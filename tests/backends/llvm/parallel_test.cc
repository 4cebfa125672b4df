#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "backends/cpu/compiler.h"
#include "loops/text/text.h"
#include "tests/backends/native_program.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::hone::testing::ExpectTextMatchesInterpreter;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ParallelLoops, SeeWhatIsAround) {
  ExpectTextMatchesInterpreter(R"(
kernel parallel
argument x f32[6,37,16]
result y f32[6,37]
local scale f32[6] heap
for i 6
| scale[i] = index(f32, i) + 1.0
for i 6
| for j 37 parallel
| | local row f32[16] heap
| | local part f32[16] stack
| | for v 16 vector
| | | row[v] = x[i,j,v] * scale[i]
| | | part[v] = row[v] * row[v]
| | y[i,j] = 0.0
| | for v 16 vector
| | | y[i,j] += part[v]
for j 37 < 30 parallel
| y[0,j] = index(f32, j)
)");
}

// The frame of a parallel loop does not have their addresses.
TEST(ParallelLoops, LeaveAccumulatorsBesideThemValues) {
  HONE_ASSERT_OK_AND_ASSIGN(const loops::Program program,
                            loops::ParseProgram(R"(
kernel tile
argument a f32[64]
result b f32[64]
result c f32[8]
local acc f32[8] register
for k 64 parallel
| b[k] = a[k] * a[k]
for v 8 vector
| acc[v] = 0.0
for k 8
| for v 8 vector
| | acc[v] += a[8*k+v]
for v 8 vector
| c[v] = acc[v]
)"));
  HONE_ASSERT_OK_AND_ASSIGN(const std::string text,
                            EmitLlvmText(program, "tile", true));
  EXPECT_THAT(text, Not(HasSubstr("alloca [8 x float]"))) << text;
}

}  // namespace
}  // namespace hone::backends
