#include "loops/ir/rewrite.h"

#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "loops/analysis/verifier.h"
#include "loops/text/text.h"
#include "tests/loops/program_text.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

using ::hone::testing::ParseText;
using ::testing::ElementsAre;
using ::testing::Optional;

constexpr char kText[] = R"(kernel k
argument at s32[8]
argument x f32[8]
result y f32[8]
local s f32[] heap
s[] = 0.0
for i 8
| local t f32[8] stack
| for j 8 < i+1
| | t[j] = where(0 <= i-j < 4, x[{at[i]}], 0.0) if (index(s32, i) < s32(5))
| | t[{at[j]}] = x[0]
| y[i] = t[0] + s[]
)";

BufferId Named(const Program& program, const std::string& name) {
  BufferId id = 0;
  while (program.buffer(id).name != name) ++id;
  return id;
}

Program With(const Program& program, const Path& path, Node node) {
  Program result = program;
  result.Replace(path, {std::move(node)});
  return result;
}

TEST(Rewrite, VisitsInOrder) {
  const Program program = ParseText(kText);
  std::vector<Path> statements;
  VisitStatements(program, Path(), [&](const Path& path, const Statement&) {
    statements.push_back(path);
  });
  EXPECT_THAT(statements,
              ElementsAre(Path{0}, Path{1, 0, 0}, Path{1, 0, 1}, Path{1, 1}));
  std::vector<Path> loops;
  VisitLoops(program, Path{1},
             [&](const Path& path, const Loop&) { loops.push_back(path); });
  EXPECT_THAT(loops, ElementsAre(Path{1}, Path{1, 0}));
}

TEST(Rewrite, VisitsLoadsInOffsetsAndTheTargetLast) {
  const Program program = ParseText(kText);
  std::vector<std::string> names;
  const auto visit = [&](const Access& access, bool is_target) {
    names.push_back(program.buffer(access.buffer).name +
                    (is_target ? " =" : ""));
  };
  VisitAccesses(*program.At({1, 0, 0}).statement(), visit);
  EXPECT_THAT(names, ElementsAre("at", "x", "t ="));
  names.clear();
  VisitAccesses(*program.At({1, 0, 1}).statement(), visit);
  EXPECT_THAT(names, ElementsAre("at", "x", "t ="));
}

TEST(Rewrite, FindsBuffers) {
  const Program program = ParseText(kText);
  EXPECT_TRUE(Mentions(program.At({1}), Named(program, "at")));
  EXPECT_FALSE(Mentions(program.At({1, 1}), Named(program, "at")));
  EXPECT_TRUE(Mentions(program.At({1, 1}), Named(program, "y")));
  EXPECT_THAT(FindDeclaration(program, Named(program, "s")), Optional(Path()));
  EXPECT_THAT(FindDeclaration(program, Named(program, "t")), Optional(Path{1}));
  EXPECT_EQ(FindDeclaration(program, Named(program, "x")), std::nullopt);
}

TEST(Rewrite, SubstitutesEverywhereAndSharesTheRest) {
  const Program program = ParseText(kText);
  const Loop& outer = *program.At({1}).loop();
  const std::vector<Node> body =
      Substitute(outer.body, outer.var, Affine::Var(outer.var) * -1 + 7);
  Loop loop = outer;
  loop.body = body;
  Program mirrored = program;
  mirrored.ReplaceLoop({1}, loop);
  HONE_ASSERT_OK_AND_ASSIGN(const Program expected, ParseProgram(R"(kernel k
argument at s32[8]
argument x f32[8]
result y f32[8]
local s f32[] heap
s[] = 0.0
for i 8
| local t f32[8] stack
| for j 8 < 8-i
| | t[j] = where(0 <= 7-i-j < 4, x[{at[7-i]}], 0.0) if (index(s32, 7-i) < s32(5))
| | t[{at[j]}] = x[0]
| y[7-i] = t[0] + s[]
)"));
  EXPECT_EQ(PrintProgram(mirrored), PrintProgram(expected));
  EXPECT_EQ(body[0].loop()->body[1], outer.body[0].loop()->body[1]);
  EXPECT_EQ(Substitute(program.At({1}), VarId{1000}, 0), program.At({1}));
}

TEST(Rewrite, MapsExpressionsFromInside) {
  const Program program = ParseText(kText);
  std::vector<Expression::Kind> kinds;
  const Node same =
      MapExpressions(program.At({1, 0, 0}), [&](const ExpressionPtr& e) {
        kinds.push_back(e->kind());
        return e;
      });
  EXPECT_EQ(same, program.At({1, 0, 0}));
  using Kind = Expression::Kind;
  EXPECT_THAT(kinds, ElementsAre(Kind::kLoad, Kind::kLoad, Kind::kConstant,
                                 Kind::kWhere, Kind::kIndex, Kind::kConstant,
                                 Kind::kApply));
}

TEST(Rewrite, MapsAccessesOfLoadsOffsetsAndTargets) {
  const Program program = ParseText(kText);
  const BufferId t = Named(program, "t");
  const BufferId y = Named(program, "y");
  const Node mapped = MapAccesses(program.At({1}), [&](const Access& access) {
    Access other = access;
    if (access.buffer == t) other.buffer = y;
    return other;
  });
  EXPECT_FALSE(Mentions(mapped, t));
  EXPECT_TRUE(Mentions(mapped.loop()->body[0], y));
  EXPECT_EQ(
      MapAccesses(program.At({1}), [](const Access& access) { return access; }),
      program.At({1}));
}

TEST(Rewrite, DuplicatesWithVariablesAndLocalsOfItsOwn) {
  Program program = ParseText(kText);
  const std::string text = PrintProgram(program);
  const Node renamed = WithNewVars(program, program.At({1}));
  EXPECT_EQ(PrintProgram(With(program, {1}, renamed)), text);
  EXPECT_EQ(renamed.loop()->locals, program.At({1}).loop()->locals);

  const Node copy = Duplicate(program, program.At({1}));
  std::set<VarId> vars;
  VisitLoops(program, Path(),
             [&](const Path&, const Loop& loop) { vars.insert(loop.var); });
  EXPECT_FALSE(vars.contains(copy.loop()->var));
  EXPECT_FALSE(vars.contains(copy.loop()->body[0].loop()->var));
  EXPECT_FALSE(Mentions(copy, Named(program, "t")));
  EXPECT_TRUE(Mentions(copy, Named(program, "s")));
  program.mutable_body().push_back(copy);
  HONE_EXPECT_OK(VerifyProgram(program));
}

}  // namespace
}  // namespace hone::loops
