#include "loops/analysis/simplify_ranges.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "loops/text/text.h"
#include "tests/loops/program_text.h"

namespace hone::loops {
namespace {

using ::hone::testing::Canonical;
using ::hone::testing::ParseText;

// The program `text` with its nodes simplified, printed.
std::string Simplified(const std::string& text) {
  Program program = ParseText(text);
  std::vector<Node> body;
  for (const Node& node : program.body()) {
    for (Node& kept : SimplifyRanges(node, ValueRanges())) {
      body.push_back(std::move(kept));
    }
  }
  program.mutable_body() = std::move(body);
  return PrintProgram(program);
}

TEST(ValueRanges, FollowSignsAndExtents) {
  Program program;
  const VarId i = program.NewVar();
  const VarId j = program.NewVar();
  ValueRanges ranges;
  ranges.Enter(i, 8);
  ranges.Enter(j, 4);
  EXPECT_EQ(ranges.Of(Affine::Var(i, 2) - Affine::Var(j, 3) + 1),
            Interval({-8, 15}));
  ranges.Leave();
  EXPECT_EQ(ranges.Of(Affine::Var(i)).hi, 7);
}

TEST(SimplifyRanges, DropsBoundsAndMakesThemExtents) {
  EXPECT_EQ(Simplified(R"(kernel k
result y f32[4,8]
for i 4
| for j 8 < 11-i
| | y[i,j] = 0.0
| for j 8 < 10-i
| | y[i,j] = 1.0
| for j 8 < 3
| | y[i,j] = 2.0
)"),
            Canonical(R"(kernel k
result y f32[4,8]
for i 4
| for j 8
| | y[i,j] = 0.0
| for j 8 < 10-i
| | y[i,j] = 1.0
| for j 3
| | y[i,j] = 2.0
)"));
}

TEST(SimplifyRanges, RemovesWhatNeverRuns) {
  EXPECT_EQ(Simplified(R"(kernel k
result y f32[8]
for i 8
| y[i] = 0.0
for i 8
| for j 4 < -1
| | y[i] = 1.0
)"),
            Canonical(R"(kernel k
result y f32[8]
for i 8
| y[i] = 0.0
)"));
}

TEST(SimplifyRanges, DecidesWheresOneRangeAtATime) {
  EXPECT_EQ(Simplified(R"(kernel k
argument x f32[8]
result y f32[8]
for i 8
| y[i] = where(0 <= i < 8, x[i], 0.0)
| y[i] = where(8 <= i < 9, x[0], 1.0)
| y[i] = where(0 <= i < 8 and 0 <= i-1 < 7, x[i-1], 2.0)
| y[i] = where(1 <= i < 8 and 9 <= i < 20, x[0], where(-1 <= i < 10, x[i], 3.0))
)"),
            Canonical(R"(kernel k
argument x f32[8]
result y f32[8]
for i 8
| y[i] = x[i]
| y[i] = 1.0
| y[i] = where(0 <= i-1 < 7, x[i-1], 2.0)
| y[i] = x[i]
)"));
}

// The bound keeps the variable from reaching the last place.
TEST(SimplifyRanges, ShortenedLoopsDecideMore) {
  EXPECT_EQ(Simplified(R"(kernel k
argument x f32[4]
result y f32[8]
for i 8 < 4
| y[i] = where(0 <= i < 4, x[i], 0.0)
)"),
            Canonical(R"(kernel k
argument x f32[4]
result y f32[8]
for i 4
| y[i] = x[i]
)"));
}

}  // namespace
}  // namespace hone::loops
