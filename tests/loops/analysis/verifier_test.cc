#include "loops/analysis/verifier.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "loops/text/text.h"
#include "tests/loops/example_programs.h"
#include "tests/loops/random_program.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

using ::hone::testing::ExamplePrograms;
using ::hone::testing::RandomProgram;
using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

// The program of x f32[10] and y f32[10] with these lines.
absl::StatusOr<Program> Parse(absl::string_view lines) {
  return ParseProgram(absl::StrCat(
      "kernel k\nargument x f32[10]\nargument n s32[10]\nresult y f32[10]\n",
      lines));
}

Program Good() {
  absl::StatusOr<Program> program = Parse(R"(local t f32[10] heap
for i 10
| local s f32[] register
| s[] = x[i]
| t[i] = s[]
| for j 2
| | y[i] = t[i]
)");
  EXPECT_THAT(program, testing::IsOk());
  return *std::move(program);
}

void ReplaceStatement(Program& program, const Path& path,
                      const Statement& statement) {
  program.Replace(path, {Node(std::make_shared<const Statement>(statement))});
}

TEST(LoopVerifier, AcceptsExamplesAndRandomPrograms) {
  for (const auto& example : ExamplePrograms()) {
    HONE_EXPECT_OK(VerifyProgram(testing::ParseExample(example.name)));
  }
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const Program program = RandomProgram(seed);
    const absl::Status status = VerifyProgram(program);
    ASSERT_TRUE(status.ok()) << status << "\n" << PrintProgram(program);
  }
}

TEST(LoopVerifier, VariablesBelongToLoopsAbove) {
  Program program = Good();
  const VarId outer = program.At({0}).loop()->var;
  Loop inner = *program.At({0, 2}).loop();
  inner.var = outer;
  program.ReplaceLoop({0, 2}, inner);
  EXPECT_THAT(VerifyProgram(program),
              StatusIs(kInvalid, HasSubstr("at 0.2: variable")));

  program = Good();
  const VarId sibling = program.At({0, 2}).loop()->var;
  Statement statement = *program.At({0, 1}).statement();
  statement.target.indices[0].affine = Affine::Var(sibling);
  ReplaceStatement(program, {0, 1}, statement);
  EXPECT_THAT(VerifyProgram(program),
              StatusIs(kInvalid, HasSubstr("at 0.1: variable")));

  // Its own bound is not below a loop.
  program = Good();
  Loop loop = *program.At({0}).loop();
  loop.bound.emplace() += Affine::Var(loop.var);
  program.ReplaceLoop({0}, loop);
  EXPECT_THAT(VerifyProgram(program),
              StatusIs(kInvalid, HasSubstr("at 0: variable")));

  // NewVar would give it to another.
  program = Good();
  loop = *program.At({0, 2}).loop();
  loop.var = program.next_var();
  program.ReplaceLoop({0, 2}, loop);
  EXPECT_THAT(VerifyProgram(program),
              StatusIs(kInvalid, HasSubstr("expected one of NewVar")));
}

TEST(LoopVerifier, LocalsAreDeclaredOnceAndAboveTheirUses) {
  Program program = Good();
  const BufferId t = program.locals()[0];
  program.mutable_locals().clear();
  EXPECT_THAT(VerifyProgram(program),
              StatusIs(kInvalid, HasSubstr("at 0.1: local buffer t is used")));

  program = Good();
  Loop loop = *program.At({0, 2}).loop();
  loop.locals.push_back(t);
  program.ReplaceLoop({0, 2}, loop);
  EXPECT_THAT(VerifyProgram(program),
              StatusIs(kInvalid,
                       HasSubstr("at 0.2: local buffer t is declared again")));

  // The declaration is in a loop that has ended.
  program = Good();
  program.mutable_body().push_back(program.At({0, 0}));
  EXPECT_THAT(VerifyProgram(program), StatusIs(kInvalid, HasSubstr("at 1: ")));

  program = Good();
  program.mutable_locals().push_back(0);
  EXPECT_THAT(VerifyProgram(program),
              StatusIs(kInvalid, HasSubstr("expected a local one")));
}

TEST(LoopVerifier, WritesGoToResultsAndLocals) {
  EXPECT_THAT(Parse("x[0] = 1\n"),
              StatusIs(kInvalid, HasSubstr("x is written")));
  EXPECT_THAT(Parse("constant c f32[1] {1}\nc[0] = 1\n"),
              StatusIs(kInvalid, HasSubstr("c is written")));
}

TEST(LoopVerifier, TypesAndRanksFit) {
  Program program = Good();
  Statement statement = *program.At({0, 1}).statement();
  const Statement good = statement;
  statement.value = Expression::Constant(hlo::ElementType::kF64, 1);
  ReplaceStatement(program, {0, 1}, statement);
  EXPECT_THAT(VerifyProgram(program),
              StatusIs(kInvalid, HasSubstr("at 0.1: a value of type f64")));

  statement = good;
  statement.value =
      Expression::Load(hlo::ElementType::kS32, good.value->access());
  ReplaceStatement(program, {0, 1}, statement);
  EXPECT_THAT(VerifyProgram(program),
              StatusIs(kInvalid, HasSubstr("loads s as s32, expected f32")));

  statement = good;
  statement.target.indices.emplace_back();
  ReplaceStatement(program, {0, 1}, statement);
  EXPECT_THAT(VerifyProgram(program),
              StatusIs(kInvalid, HasSubstr("2 indices for t, expected 1")));

  statement = good;
  statement.combine = hlo::Opcode::kAnd;
  ReplaceStatement(program, {0, 1}, statement);
  EXPECT_THAT(VerifyProgram(program),
              StatusIs(kInvalid, HasSubstr("combines f32 by and")));

  statement = good;
  statement.combine = hlo::Opcode::kSubtract;
  ReplaceStatement(program, {0, 1}, statement);
  EXPECT_THAT(VerifyProgram(program),
              StatusIs(kInvalid, HasSubstr("combines f32 by subtract")));

  statement = good;
  statement.predicate = good.value;
  ReplaceStatement(program, {0, 1}, statement);
  EXPECT_THAT(VerifyProgram(program),
              StatusIs(kInvalid, HasSubstr("expected pred")));

  statement = good;
  statement.target.indices[0].offset = good.value;
  ReplaceStatement(program, {0, 1}, statement);
  EXPECT_THAT(VerifyProgram(program),
              StatusIs(kInvalid, HasSubstr("expected an integer")));

  statement = good;
  statement.target.buffer = 99;
  ReplaceStatement(program, {0, 1}, statement);
  EXPECT_THAT(VerifyProgram(program),
              StatusIs(kInvalid, HasSubstr("no buffer has number 99")));
}

TEST(LoopVerifier, OrderedComparisonsOfComplexNumbersHaveNoMeaning) {
  const ExpressionPtr one = Expression::Constant(hlo::ElementType::kC64, 1);
  for (const auto& [direction, good] :
       {std::pair(hlo::ComparisonDirection::kEq, true),
        std::pair(hlo::ComparisonDirection::kLt, false)}) {
    Program program = Good();
    Statement statement = *program.At({0, 1}).statement();
    statement.predicate = Expression::Compare(direction, false, one, one);
    ReplaceStatement(program, {0, 1}, statement);
    EXPECT_EQ(VerifyProgram(program).ok(), good);
  }
}

TEST(LoopVerifier, FlatAccessesAreToDenseBuffers) {
  HONE_EXPECT_OK(Parse("local t f32[2,5] heap\nfor i 10\n| t@[i] = x[i]\n"));
  EXPECT_THAT(Parse("local t f32[2,5] heap\nfor i 10\n| t@[i+1] = x[i]\n"),
              StatusIs(kInvalid, HasSubstr("t, i0+1, may be out of bounds")));
  EXPECT_THAT(
      Parse("local t f32[2,5] heap strides {6,1}\nfor i 10\n| t@[i] = x[i]\n"),
      StatusIs(kInvalid, HasSubstr("1 indices for t, expected 2")));
}

TEST(LoopVerifier, ModesHoldWhatTheyMay) {
  EXPECT_THAT(Parse("for i 10 vector\n| for j 1\n| | y[i] = x[i]\n"),
              StatusIs(kInvalid, HasSubstr("a loop in a vector loop")));
  EXPECT_THAT(Parse("for i 5 parallel\n| for k 1\n| | for j 2 parallel\n"
                    "| | | y[2*i+j] = x[i]\n"),
              StatusIs(kInvalid, HasSubstr("a parallel loop in another")));
}

TEST(LoopVerifier, RegistersAreIndexedByUnrolledAndVectorLoops) {
  HONE_EXPECT_OK(
      Parse("local t f32[2,5] register\nfor i 2 unrolled\n"
            "| for j 5 vector\n| | t[i,j] = x[j]\n"));
  EXPECT_THAT(Parse("local t f32[2,5] register\nfor i 2\n"
                    "| for j 5 vector\n| | t[i,j] = x[j]\n"),
              StatusIs(kInvalid, HasSubstr("changes at run time")));
  EXPECT_THAT(Parse("local t f32[2] register\nt[{n[0]}] = x[0]\n"),
              StatusIs(kInvalid, HasSubstr("changes at run time")));
}

TEST(LoopVerifier, BuffersAreWellFormed) {
  Buffer buffer;
  buffer.name = "b";
  buffer.dimensions = {2, 3};
  const auto verify = [](const Buffer& added) {
    Program program = Good();
    program.AddBuffer(added);
    return VerifyProgram(program);
  };
  EXPECT_THAT(verify(buffer), StatusIs(kInvalid, HasSubstr("has 0 strides")));
  buffer.strides = {1, 2};
  HONE_EXPECT_OK(verify(buffer));
  buffer.strides = {1, 1};
  EXPECT_THAT(verify(buffer), StatusIs(kInvalid, HasSubstr("overlap")));
  buffer.strides = {3, -1};
  EXPECT_THAT(verify(buffer), StatusIs(kInvalid, HasSubstr("strides {3,-1}")));
  buffer.strides = {int64_t{1} << 50, int64_t{1} << 60};
  EXPECT_THAT(verify(buffer), StatusIs(kInvalid, HasSubstr("2^56")));
  // Numbers 0 and 2 are arguments' already or leave a gap.
  buffer.strides = {3, 1};
  buffer.memory = Memory::kArgument;
  for (int32_t number : {0, 3}) {
    buffer.number = number;
    EXPECT_THAT(verify(buffer),
                StatusIs(kInvalid, HasSubstr("no argument has number")));
  }
  buffer.number = 2;
  HONE_EXPECT_OK(verify(buffer));
  buffer.strides = {4, 1};
  EXPECT_THAT(verify(buffer), StatusIs(kInvalid, HasSubstr("row-major")));
  buffer.memory = Memory::kConstant;
  buffer.strides = {3, 1};
  EXPECT_THAT(verify(buffer), StatusIs(kInvalid, HasSubstr("no values")));
  buffer.literal = std::make_shared<const hlo::Literal>(
      hlo::Literal::Scalar(hlo::ElementType::kF32, 1));
  EXPECT_THAT(verify(buffer),
              StatusIs(kInvalid, HasSubstr("expected f32[2,3]")));
}

TEST(LoopVerifier, NumbersAreFarFromOverflow) {
  Program program = Good();
  Statement statement = *program.At({0, 1}).statement();
  const VarId i = program.At({0}).loop()->var;
  statement.target.indices[0].affine = Affine::Var(i, int64_t{1} << 62);
  ReplaceStatement(program, {0, 1}, statement);
  EXPECT_THAT(VerifyProgram(program), StatusIs(kInvalid, HasSubstr("2^56")));
  statement.target.indices[0].affine = Affine::Var(i, int64_t{1} << 55);
  ReplaceStatement(program, {0, 1}, statement);
  EXPECT_THAT(VerifyProgram(program), StatusIs(kInvalid, HasSubstr("2^56")));
}

struct BoundsCase {
  const char* lines;
  bool good;
};

constexpr BoundsCase kBoundsCases[] = {
    {"for i 10\n| y[i] = 1", true},
    {"for i 11\n| y[i] = 1", false},
    {"for i 10\n| y[9-i] = 1", true},
    {"for i 10\n| y[10-i] = 1", false},
    {"for i 10\n| y[i-1] = 1", false},
    // Nothing runs.
    {"for i 0\n| y[77] = 1", true},
    {"for i 3 < 0\n| y[77] = 1", true},
    // Splits that divide, that do not, and that forget the bound.
    {"for i 5\n| for j 2\n| | y[2*i+j] = 1", true},
    {"for i 3\n| for j 4 < 10-4*i\n| | y[4*i+j] = 1", true},
    {"for i 3\n| for j 4\n| | y[4*i+j] = 1", false},
    {"for i 3\n| for j 4 < 11-4*i\n| | y[4*i+j] = 1", false},
    // A split of a split, and its tiles unrolled in another order.
    {"for i 2\n| for j 2\n| | for k 3 < 10-6*i-3*j\n| | | y[6*i+3*j+k] = 1",
     true},
    {"for i 2\n| for j 3 < 5-3*i\n| | for k 2\n| | | y[6*i+2*j+k] = 1", true},
    // A triangle.
    {"for i 10\n| for j 10 < i\n| | y[i-j-1] = 1", true},
    {"for i 10\n| for j 10 < i+1\n| | y[i-j-1] = 1", false},
    // Wheres.
    {"for i 12\n| y[0] = where(0 <= i-1 < 10, x[i-1], 0.0)", true},
    {"for i 12\n| y[0] = where(0 <= i-1 < 11, x[i-1], 0.0)", false},
    {"for i 12\n| y[0] = where(0 <= i-1 < 10, 0.0, x[i-1])", false},
    {"for i 12\n| y[0] = where(10 <= i < 12, 0.0, x[i])", true},
    {"for i 12\n| for j 12\n"
     "| | y[0] = where(0 <= i < 10 and 0 <= j < 10, x[i] + x[j], 0.0)",
     true},
    {"for i 12\n| for j 12\n"
     "| | y[0] = where(10 <= i < 12 and 10 <= j < 12, 0.0, x[i])",
     false},
    // Three buffers one behind the other.
    {"for i 30\n| y[0] = where(0 <= i < 10, x[i], "
     "where(10 <= i < 20, x[i-10], x[i-20]))",
     true},
    {"for i 31\n| y[0] = where(0 <= i < 10, x[i], "
     "where(10 <= i < 20, x[i-10], x[i-20]))",
     false},
    // Windows over a split axis.
    {"for i 3\n| for j 4 < 10-4*i\n| | for k 3\n"
     "| | | y[4*i+j] = where(0 <= 4*i+j+k-1 < 10, x[4*i+j+k-1], 0.0)",
     true},
    {"for i 3\n| for j 4 < 10-4*i\n| | for k 3\n"
     "| | | y[4*i+j] = where(0 <= 4*i+j+k-1 < 10, x[4*i+j+k], 0.0)",
     false},
    // Indices that depend on data are the program's responsibility; the indices
    // inside of them and the predicate are not.
    {"for i 10\n| y[i] = x[i+{n[i]}]", true},
    {"for i 10\n| y[i] = x[i+{n[i+1]}]", false},
    {"for i 10\n| y[i] = 1 if (x[i+1] > 0)", false},
    {"for i 11\n| y[i] = 1 if (index(s32, i) < s32(10))", false},
};

TEST(LoopVerifier, AffineIndicesAreInBounds) {
  for (const BoundsCase& c : kBoundsCases) {
    EXPECT_EQ(Parse(c.lines).ok(), c.good) << c.lines << "\n"
                                           << Parse(c.lines).status();
  }
  EXPECT_THAT(Parse("for i 3\n| for j 4\n| | y[4*i+j] = 1"),
              StatusIs(kInvalid,
                       HasSubstr("index 0 of y, 4*i0+i1, may be out of bounds, "
                                 "expected 0 to 9")));
}

}  // namespace
}  // namespace hone::loops
