#include "loops/text/text.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/loops/example_programs.h"
#include "tests/loops/random_program.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

using ::hone::testing::ExampleProgram;
using ::hone::testing::ExamplePrograms;
using ::hone::testing::RandomProgram;
using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

// Every construct, as Hone prints it.
constexpr char kEverything[] = R"(kernel every.thing-1
argument x f32[5,3]
argument n s32[4]
argument h bf16[]
argument z c64[2]
result y f32[5,3]
inout w s32[4]
result b pred[4]
constant c f32[2,2] { {1, -0.0}, {nan(0x1), -inf} }
constant k u8[] 200
local t f32[5,3] heap strides {1,8}
local e f32[0,3] stack
for i0 2 parallel
| local acc f32[] register
| local row f32[4,2] stack
| acc[] = -0.0
| for i1 3 unrolled
| | for i2 3 < 5-3*i0 vector
| | | t[3*i0+i2,i1] = (x[3*i0+i2,i1] - 1.5) * 2.0 - (x@[1] - -3.0) nontemporal
| acc[] += t[0,2] * (t[0,1] / t[0,0]) / 1e-05
| acc[] *= 1e+20
| acc[] max= select(n[3] == s32(-7), nan, -inf) if (n[0] < n[1])
| acc[] min= where(0 <= i0-1 < 5 and -2 <= 3 < 4, x[i0-1,0], c@[{clamp(s32(0), n[i0], s32(3))}])
| for i1 4 prefetch 12
| | row[i1,0] = where(true, convert(f32, h[]), index(f32, 7-i0-2*i1)) if (total_lt(x[0,0], 0.0)) nontemporal
| | row[i1,1] = exponential_minus_one(abs(z[1]) + real(z[0] * c64(1.5)))
| y[3*i0+{n[0] - s32(1)},2] = acc[]
for i0 4
| b[i0] = true
| b[i0] and= n[i0] != convert(s32, k[]) == false
| b[i0] or= not(is_finite(bitcast_convert(f32, n[3-i0])))
| b[i0] xor= total_ge(x[0,0], x[0,1])
w[1] = w[2] + w[{n[0]}]
)";

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(LoopText, PrintsWhatItReads) {
  // A comparison of comparisons needs parentheses.
  std::string text = kEverything;
  const std::string bare = "n[i0] != convert(s32, k[]) == false";
  text.replace(text.find(bare), bare.size(),
               "(n[i0] != convert(s32, k[])) == false");
  HONE_ASSERT_OK_AND_ASSIGN(const Program program, ParseProgram(text));
  EXPECT_EQ(PrintProgram(program), text);
}

TEST(LoopText, ComparisonsDoNotGroup) {
  EXPECT_THAT(ParseProgram(kEverything),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "30:41: found '=', expected a new line"));
}

TEST(LoopText, RoundTripsExamples) {
  for (const ExampleProgram& example : ExamplePrograms()) {
    HONE_ASSERT_OK_AND_ASSIGN(const Program program,
                              ParseProgram(example.text));
    const std::string text = PrintProgram(program);
    HONE_ASSERT_OK_AND_ASSIGN(const Program again, ParseProgram(text));
    EXPECT_EQ(PrintProgram(again), text);
  }
}

TEST(LoopText, RoundTripsRandomPrograms) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::string text = PrintProgram(RandomProgram(seed));
    const absl::StatusOr<Program> again = ParseProgram(text);
    ASSERT_TRUE(again.ok()) << again.status() << "\n" << text;
    ASSERT_EQ(PrintProgram(*again), text);
  }
}

TEST(LoopText, ReadsTheExampleOfTheManual) {
  const std::string manual =
      ReadFile(absl::StrCat(HONE_SOURCE_DIR, "/docs/LOOPS.md"));
  const size_t start = manual.find("```\nkernel");
  ASSERT_NE(start, std::string::npos);
  const size_t stop = manual.find("\n```", start);
  HONE_ASSERT_OK_AND_ASSIGN(const Program program,
                            ParseProgram(absl::string_view(manual).substr(
                                start + 4, stop - start - 3)));
  EXPECT_EQ(program.name(), "softmax");
  EXPECT_EQ(program.At({0}).loop()->mode, LoopMode::kParallel);
  EXPECT_TRUE(program.At({0, 3, 0}).loop()->bound.has_value());
}

TEST(LoopText, AcceptsWhatPeopleWrite) {
  HONE_ASSERT_OK_AND_ASSIGN(const Program program, ParseProgram(R"(
# A comment, {[(

  kernel   k   # another
argument x f32 [ 6 ]
result y f32[6]

for row 3    # outer
|for col 2<6 - (row+row)
  | |   y[ col+row * 2 ]=x[2*(row + 1)+col-2]+1   # the end
)"));
  EXPECT_EQ(PrintProgram(program), R"(kernel k
argument x f32[6]
result y f32[6]
for i0 3
| for i1 2 < 6-2*i0
| | y[2*i0+i1] = x[2*i0+i1] + 1.0
)");
}

Program Copying(const std::string& x, const std::string& y) {
  Program program("copy it");
  BufferId ids[2];
  for (int i = 0; i < 2; ++i) {
    Buffer buffer;
    buffer.name = i == 0 ? x : y;
    buffer.memory = i == 0 ? Memory::kArgument : Memory::kResult;
    ids[i] = program.AddBuffer(buffer);
  }
  auto statement = std::make_shared<Statement>();
  statement->target.buffer = ids[1];
  Access load;
  load.buffer = ids[0];
  statement->value = Expression::Load(hlo::ElementType::kF32, load);
  program.mutable_body().push_back(
      std::shared_ptr<const Statement>(std::move(statement)));
  return program;
}

TEST(LoopText, MakesNamesReadableAndUnique) {
  EXPECT_EQ(PrintProgram(Copying("a-b", "a_b")), R"(kernel copy_it
argument a_b f32[]
result a_b_1 f32[]
a_b_1[] = a_b[]
)");
  EXPECT_EQ(PrintProgram(Copying("", "1")), R"(kernel copy_it
argument _ f32[]
result _1 f32[]
_1[] = _[]
)");
}

TEST(LoopText, DoesNotDependOnNumbersOfVariablesAndBuffers) {
  const Program plain = Copying("x", "y");
  Program gaps("copy it");
  gaps.AddBuffer(Buffer());  // nothing mentions it
  Buffer result = plain.buffer(1);
  Buffer argument = plain.buffer(0);
  const BufferId y = gaps.AddBuffer(result);
  const BufferId x = gaps.AddBuffer(argument);
  auto statement = std::make_shared<Statement>();
  statement->target.buffer = y;
  Access load;
  load.buffer = x;
  statement->value = Expression::Load(hlo::ElementType::kF32, load);
  gaps.mutable_body().push_back(
      std::shared_ptr<const Statement>(std::move(statement)));
  EXPECT_EQ(PrintProgram(gaps), PrintProgram(plain));

  std::string texts[2];
  for (VarId skipped : {0, 7}) {
    Program program("loop");
    for (VarId i = 0; i < skipped; ++i) program.NewVar();
    auto loop = std::make_shared<Loop>();
    loop->var = program.NewVar();
    loop->extent = 3;
    program.mutable_body().push_back(
        std::shared_ptr<const Loop>(std::move(loop)));
    texts[skipped == 0 ? 0 : 1] = PrintProgram(program);
  }
  EXPECT_EQ(texts[0], texts[1]);
}

TEST(LoopText, NumbersAreExact) {
  const double numbers[] = {0.1,
                            1.0 / 3,
                            std::numeric_limits<float>::denorm_min(),
                            std::numeric_limits<float>::max(),
                            16777216,
                            -0.0,
                            std::numeric_limits<double>::infinity()};
  for (double number : numbers) {
    for (hlo::ElementType type :
         {hlo::ElementType::kF32, hlo::ElementType::kF64,
          hlo::ElementType::kBf16, hlo::ElementType::kF16}) {
      const double rounded = hlo::Literal::Scalar(type, number).AsDouble(0);
      Program program = Copying("x", "y");
      Buffer y = program.buffer(1);
      y.type = type;
      program.SetBuffer(1, y);
      auto statement = std::make_shared<Statement>();
      statement->target.buffer = 1;
      statement->value = Expression::Constant(type, rounded);
      program.Replace(
          {0}, {Node(std::shared_ptr<const Statement>(std::move(statement)))});
      HONE_ASSERT_OK_AND_ASSIGN(const Program again,
                                ParseProgram(PrintProgram(program)));
      const double read = again.At({0}).statement()->value->number();
      EXPECT_EQ(read, rounded);
      EXPECT_EQ(std::signbit(read), std::signbit(rounded));
    }
  }
}

TEST(LoopText, PrintsPaths) {
  EXPECT_EQ(PrintProgramWithPaths(testing::ParseExample("column_sum")),
            R"(      kernel column_sum
      argument x f32[9,5]
      result y f32[5]
0     for i0 5
0.0   | y[i0] = 0.0
1     for i0 9
1.0   | for i1 5
1.0.0 | | y[i1] += x[i0,i1]
)");
}

struct BadText {
  const char* text;
  const char* error;
};

constexpr char kHead[] = "kernel k\nargument x f32[6]\nresult y f32[6]\n";

// Behind kHead, so that the first line is line 4.
constexpr BadText kBadTexts[] = {
    {"for", "4:4: the text ends here, expected the name of the variable"},
    {"for i\n", "4:6: the line ends here, expected an integer"},
    {"for i -1", "4:7: found '-', expected an integer"},
    {"for i 3 fast",
     "4:9: found 'fast', expected unrolled, vector, parallel, prefetch or "
     "a new line"},
    {"for i 3 vector fast", "4:16: found 'fast', expected a new line"},
    {"for i 99999999999999999999",
     "4:7: the number is too large, expected at most 2^56"},
    {"| y[0] = 1", "4:1: a line in 1 loops, expected at most 0 bars"},
    {"for i 3\n| for i 2",
     "5:7: another variable i, expected a name of its own"},
    {"for i 3\nresult z f32[]",
     "5:1: a declaration after loops or statements, expected it in front of "
     "them"},
    {"local x f32[] heap", "4:7: another buffer x, expected a name of its own"},
    {"local t f32[] slow",
     "4:15: found 'slow', expected heap, stack or register"},
    {"local t f33[] heap", "4:9: found 'f33', expected an element type"},
    {"local t f32[2,2] heap strides {1,1}",
     "1:1: buffer t has strides {1,1} by which elements overlap, expected a "
     "place for each"},
    {"constant c f32[2] {1}",
     "4:21: found '}', expected 2 values of dimension 0, not 1"},
    {"constant c f32[2] {...}", "1:1: constant c has no values, expected some"},
    {"y[0]",
     "4:5: the text ends here, expected =, +=, *=, max=, min=, and=, "
     "or= or xor= and a value"},
    {"y[0] = ", "4:8: the text ends here, expected an expression"},
    {"y[0] = z[0]", "4:8: found 'z', expected the name of a buffer"},
    {"y[0] = x[i]",
     "4:10: found 'i', expected a variable of a loop around this line"},
    {"y[0] = x[0,0]", "4:8: 2 indices for x, expected 1"},
    {"y[0] = x@[0]", "4:8: flat access to x of rank 1, expected '['"},
    {"y[0] = sin(x[0])",
     "4:8: found 'sin', expected where, index, a type or an elementwise "
     "opcode"},
    {"y[0] = maximum(x[0])", "4:20: found ')', expected ','"},
    {"y[0] = x[0] + s32(1)",
     "4:13: add of f32, s32, expected types that it is defined on"},
    {"y[0] = s32(1.5)", "4:12: found '1.5', expected an integer (s32)"},
    {"y[0] = s8(200)", "4:11: the value 200 is out of range, expected s8"},
    {"y[0] = not(x[0])",
     "4:8: not of f32, expected types that it is defined on"},
    {"y[0] = where(0 <= 1 < 2, 1, true)",
     "4:24: where of f32, pred, expected one type"},
    {"y[0] = where(0 < 1, 1, 2)", "4:16: found '<', expected '<='"},
    {"y[0] = x[0] if x[0]", "4:16: found 'x', expected '('"},
    {"for i 6\n| y[i*i] = 1",
     "5:5: a product of variables, expected a number as one of the factors"},
    {"for i 6\n| x[i] = 1", "5:3: x is written, expected a result or a local"},
    {"for i 6\n| y[i] = x[i+1]",
     "5:3: index 0 of x, i0+1, may be out of bounds, expected 0 to 5"},
    {"y[0] = true", "4:1: a value of type pred for y, expected f32"},
};

TEST(LoopText, ErrorsSayWhereAndWhat) {
  EXPECT_THAT(ParseProgram(""),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "1:1: the text ends here, expected 'kernel'"));
  for (const BadText& bad : kBadTexts) {
    EXPECT_THAT(ParseProgram(absl::StrCat(kHead, bad.text)),
                StatusIs(absl::StatusCode::kInvalidArgument, bad.error))
        << bad.text;
  }
}

TEST(LoopText, RefusesDeepNesting) {
  const std::string deep(100000, '(');
  EXPECT_THAT(ParseProgram(absl::StrCat(kHead, "y[0] = ", deep)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("nested too deeply")));
  EXPECT_THAT(ParseProgram(absl::StrCat(kHead, "y[", deep)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("nested too deeply")));
  std::string loops = kHead;
  for (int i = 0; i < 200; ++i) {
    absl::StrAppend(&loops, std::string(static_cast<size_t>(i), '|'), "for i",
                    i, " 1\n");
  }
  EXPECT_THAT(ParseProgram(loops), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr("nested too deeply")));
}

// No prefix and no text with a character changed may do worse than fail.
TEST(LoopText, SurvivesDamage) {
  const std::string text = kEverything;
  for (size_t i = 0; i < text.size(); ++i) {
    ParseProgram(text.substr(0, i)).IgnoreError();
    std::string damaged = text;
    damaged[i] = "([{@-9|\n"[i % 8];
    ParseProgram(damaged).IgnoreError();
  }
}

}  // namespace
}  // namespace hone::loops
