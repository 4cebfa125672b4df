#include "loops/interpreter/interpreter.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/equivalence/equivalence.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/text/parser.h"
#include "loops/text/text.h"
#include "tests/loops/example_programs.h"
#include "tests/loops/random_program.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

using ::hone::testing::ExampleProgram;
using ::hone::testing::ExamplePrograms;
using ::hone::testing::RandomArguments;
using ::hone::testing::RandomProgram;
using ::hone::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

hlo::Literal Array(hlo::ElementType type, const std::vector<double>& values) {
  hlo::Literal literal(
      hlo::Shape::Array(type, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) {
    literal.SetDouble(static_cast<int64_t>(i), values[i]);
  }
  return literal;
}

hlo::Literal Floats(const std::vector<double>& values) {
  return Array(hlo::ElementType::kF32, values);
}
hlo::Literal Ints(const std::vector<double>& values) {
  return Array(hlo::ElementType::kS32, values);
}

std::vector<double> Values(const hlo::Literal& literal) {
  std::vector<double> values;
  for (int64_t i = 0; i < literal.num_elements(); ++i) {
    values.push_back(literal.AsDouble(i));
  }
  return values;
}

absl::StatusOr<std::vector<hlo::Literal>> Execute(
    const std::string& text, const std::vector<hlo::Literal>& arguments,
    uint64_t shuffle_parallel = 0) {
  const absl::StatusOr<Program> program =
      ParseProgram(absl::StrCat("kernel k\n", text));
  EXPECT_THAT(program, testing::IsOk());
  InterpretOptions options;
  options.shuffle_parallel = shuffle_parallel;
  return Interpret(*program, arguments, options);
}

// The values of the only result.
std::vector<double> RunToValues(const std::string& text,
                                const std::vector<hlo::Literal>& arguments) {
  const absl::StatusOr<std::vector<hlo::Literal>> results =
      Execute(text, arguments);
  EXPECT_THAT(results, testing::IsOk());
  return results.ok() ? Values((*results)[0]) : std::vector<double>();
}

TEST(LoopInterpreter, AgreesWithTheEvaluatorOnExamples) {
  for (const ExampleProgram& example : ExamplePrograms()) {
    const Program program = testing::ParseExample(example.name);
    HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module,
                              hlo::ParseHloText(std::string(example.hlo)));
    const std::vector<hlo::Literal> arguments = RandomArguments(program, 1);
    HONE_ASSERT_OK_AND_ASSIGN(const std::vector<hlo::Literal> results,
                              Interpret(program, arguments));
    HONE_ASSERT_OK_AND_ASSIGN(const hlo::Literal expected,
                              hlo::Evaluate(module, arguments));
    const hlo::Literal actual =
        expected.shape().IsTuple() ? hlo::Literal::Tuple(results) : results[0];
    const hlo::Comparison comparison = hlo::CompareLiterals(expected, actual);
    EXPECT_TRUE(comparison.equal)
        << example.name << " differs by " << comparison.max_rel_error;
  }
}

TEST(LoopInterpreter, RunsRandomProgramsInAnyOrderOfParallelLoops) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Program program = RandomProgram(seed);
    const std::vector<hlo::Literal> arguments = RandomArguments(program, seed);
    const auto plain = Interpret(program, arguments);
    ASSERT_TRUE(plain.ok()) << plain.status() << "\n" << PrintProgram(program);
    // The program read back from its text gives the same.
    HONE_ASSERT_OK_AND_ASSIGN(const Program again,
                              ParseProgram(PrintProgram(program)));
    InterpretOptions options;
    options.shuffle_parallel = seed + 1;
    const auto shuffled = Interpret(again, arguments, options);
    ASSERT_TRUE(shuffled.ok()) << shuffled.status();
    ASSERT_EQ(plain->size(), shuffled->size());
    for (size_t i = 0; i < plain->size(); ++i) {
      EXPECT_EQ((*plain)[i], (*shuffled)[i]) << PrintProgram(program);
    }
  }
}

TEST(LoopInterpreter, ShufflingShowsIterationsThatDependOnEachOther) {
  const std::string text = R"(result y s32[8]
y[0] = s32(0)
for i 7 vector
| y[i+1] = y[i] + s32(1)
)";
  EXPECT_THAT(RunToValues(text, {}), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  // A vector reads all of its elements first.
  EXPECT_THAT(Execute(text, {}, 3),
              StatusIs(kInvalid, HasSubstr("no value yet")));
}

TEST(LoopInterpreter, VectorsFinishAStatementBeforeTheNext) {
  const std::string text = R"(result y s32[4]
result z s32[4]
for i 4
| y[i] = s32(7)
for i 4 vector
| y[i] = index(s32, i)
| z[i] = y[3-i]
)";
  for (const uint64_t shuffle : {uint64_t{0}, uint64_t{1}}) {
    HONE_ASSERT_OK_AND_ASSIGN(const std::vector<hlo::Literal> results,
                              Execute(text, {}, shuffle));
    EXPECT_THAT(Values(results[1]), shuffle == 0 ? ElementsAre(7, 7, 1, 0)
                                                 : ElementsAre(3, 2, 1, 0));
  }
}

TEST(LoopInterpreter, FindsDataRacesOfParallelLoops) {
  const auto execute = [](const std::string& body) {
    return Execute(absl::StrCat("result y s32[8]\nlocal t s32[2] heap\n"
                                "for i 8\n| y[i] = s32(0)\n",
                                body),
                   {})
        .status();
  };
  // An iteration reads what another one has written.
  EXPECT_THAT(
      execute("for i 7 parallel\n| y[i+1] = y[i]\n"),
      StatusIs(kInvalid, HasSubstr("at 1.0: element 1 of y is accessed by "
                                   "iteration 0 of the parallel loop, too")));
  // An iteration writes what others have read.
  EXPECT_THAT(
      execute("for i 3 parallel\n| y[i] = y[2]\n"),
      StatusIs(kInvalid, HasSubstr("element 2 of y is accessed by several "
                                   "iterations of the parallel loop, too")));
  // Both write, even the same value, which no order of iterations shows.
  EXPECT_THAT(execute("for i 2 parallel\n| t[0] = s32(1)\n| y[i] = t[0]\n"),
              StatusIs(kInvalid, HasSubstr("element 0 of t")));
  EXPECT_THAT(execute("for i 2 parallel\n| y[0] += s32(1)\n"),
              StatusIs(kInvalid, HasSubstr("element 0 of y")));
}

TEST(LoopInterpreter, WhatIterationsDoNotShareIsNoRace) {
  EXPECT_THAT(RunToValues(R"(argument x s32[2]
result y s32[4]
local t s32[4] heap
for j 2
| for i 4 parallel
| | t[i] = index(s32, i) + index(s32, j)
| for i 4 parallel
| | local s s32[2] stack
| | s[0] = t[3-i] + x[0]
| | s[1] = s[0] + t[0]
| | y[i] = s[1] + x[1]
)",
                          {Ints({10, 100})}),
              ElementsAre(115, 114, 113, 112));
}

TEST(LoopInterpreter, ElementsHaveNoValueUntilTheyAreWritten) {
  EXPECT_THAT(
      Execute("result y f32[2]\ny[0] = 1\ny[1] = y[0]\ny[1] = y[1]\n", {}),
      testing::IsOk());
  EXPECT_THAT(Execute("result y f32[2]\ny[0] = y[1]\ny[1] = 1\n", {}),
              StatusIs(kInvalid,
                       "at 0: element 1 of y is read but has no "
                       "value yet, expected a statement before to "
                       "write it"));
  EXPECT_THAT(Execute("result y f32[2]\ny[0] = 1\nfor i 2\n| y[i] += 1\n", {}),
              StatusIs(kInvalid, HasSubstr("at 1.0: element 1 of y")));
  EXPECT_THAT(Execute("result y f32[2]\nfor i 2\n| y[i] += 1\n", {}),
              StatusIs(kInvalid, HasSubstr("(where i0 = 0)")));
  EXPECT_THAT(Execute("result y f32[2]\ny[0] = 1\n", {}),
              StatusIs(kInvalid, HasSubstr("element 1 of y has no value in "
                                           "the end")));
}

TEST(LoopInterpreter, LocalsBeginWithoutValuesInEachIteration) {
  const std::string lines = R"(result y s32[3]
for i 3
| local t s32[] stack
| t[] = s32(5) if (index(s32, i) == s32(0))
| y[i] = t[]
)";
  EXPECT_THAT(Execute(lines, {}),
              StatusIs(kInvalid, HasSubstr("at 0.1: element 0 of t")));
  // One of the whole kernel keeps its value.
  EXPECT_THAT(RunToValues(R"(result y s32[3]
local t s32[] stack
for i 3
| t[] = s32(5) if (index(s32, i) == s32(0))
| y[i] = t[]
)",
                          {}),
              ElementsAre(5, 5, 5));
}

TEST(LoopInterpreter, ChecksPlacesThatDependOnData) {
  const std::string text = R"(argument x f32[4]
argument n s32[2]
result y f32[2]
for i 2
| y[i] = x[i+{n[i]}]
)";
  const hlo::Literal x = Floats({1, 2, 3, 4});
  EXPECT_THAT(RunToValues(text, {x, Ints({3, -1})}), ElementsAre(4, 1));
  EXPECT_THAT(Execute(text, {x, Ints({3, 3})}),
              StatusIs(kInvalid,
                       "at 0.0: index 0 of x is 4, expected 0 to 3 "
                       "(where i0 = 1)"));
  EXPECT_THAT(Execute(text, {x, Ints({-1, 0})}),
              StatusIs(kInvalid, HasSubstr("index 0 of x is -1")));
  // A skipped statement is not out of bounds.
  EXPECT_THAT(RunToValues(R"(argument x f32[4]
argument n s32[2]
result y f32[4]
for i 4
| y[i] = x[i]
for i 2
| y[{n[i]}] = 9 if (n[i] < s32(4))
)",
                          {x, Ints({7, 2})}),
              ElementsAre(1, 2, 9, 4));
}

TEST(LoopInterpreter, EachIndexIsCheckedByItself) {
  // Element 5 of 2x4 exists, but not as [0,5].
  EXPECT_THAT(
      Execute(R"(argument x f32[2,4]
argument n s32[1]
result y f32[1]
y[0] = x[0,{n[0]}]
)",
              {hlo::Literal(hlo::Shape::Array(hlo::ElementType::kF32, {2, 4})),
               Ints({5})}),
      StatusIs(kInvalid, HasSubstr("index 1 of x is 5")));
}

TEST(LoopInterpreter, WhereEvaluatesOneOperandOnly) {
  EXPECT_THAT(RunToValues(R"(argument x f32[3]
result y f32[5]
for i 5
| y[i] = where(0 <= i-1 < 3, x[i-1], -1.0)
)",
                          {Floats({1, 2, 3})}),
              ElementsAre(-1, 1, 2, 3, -1));
  EXPECT_THAT(RunToValues(R"(argument x f32[2]
result y f32[1]
y[0] = where(true, x[0], x[1]) + where(0 <= 3 < 3, x[0], x[1])
)",
                          {Floats({10, 7})}),
              ElementsAre(17));
}

TEST(LoopInterpreter, BoundsAndExtentsEndIterations) {
  EXPECT_THAT(RunToValues(R"(result y s32[10]
for i 3
| for j 4 < 10-4*i
| | y[4*i+j] = index(s32, 10*i+j)
for i 0
| y[0] = s32(77)
for i 5 < -3
| y[0] = s32(77)
)",
                          {}),
              ElementsAre(0, 1, 2, 3, 10, 11, 12, 13, 20, 21));
}

TEST(LoopInterpreter, StridesPlaceElements) {
  // A transposed and padded local, read back by index.
  EXPECT_THAT(RunToValues(R"(result y s32[2,3]
local t s32[2,3] heap strides {1,4}
for i 2
| for j 3
| | t[i,j] = index(s32, 3*i+j)
for i 2
| for j 3
| | y[i,j] = t[1-i,j]
)",
                          {}),
              ElementsAre(3, 4, 5, 0, 1, 2));
  EXPECT_THAT(RunToValues(R"(result y s32[2,3]
for i 6
| y@[i] = index(s32, i)
)",
                          {}),
              ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(LoopInterpreter, NarrowFloatsAreRoundedAfterEachOperation) {
  // 256 + 1 is 256 in bf16, every time.
  EXPECT_THAT(RunToValues(R"(result y bf16[1]
y[0] = bf16(256)
for i 10
| y[0] += bf16(1)
)",
                          {}),
              ElementsAre(256));
  EXPECT_THAT(RunToValues(R"(result y f16[1]
y[0] = (f16(2048) + f16(1)) - f16(2048)
)",
                          {}),
              ElementsAre(0));
  EXPECT_THAT(RunToValues(R"(result y f32[1]
y[0] = 16777216 + 1 - 16777216
)",
                          {}),
              ElementsAre(0));
}

TEST(LoopInterpreter, IntegersWrapAndDivideAsInHlo) {
  EXPECT_THAT(RunToValues(R"(result y s32[4]
y[0] = s32(2147483647) + s32(1)
y[1] = s32(7) / s32(0)
y[2] = remainder(s32(7), s32(0))
y[3] = shift_right_logical(s32(-1), s32(28))
)",
                          {}),
              ElementsAre(-2147483648.0, -1, 7, 15));
}

TEST(LoopInterpreter, ComparesAndConvertsAsInHlo) {
  EXPECT_THAT(RunToValues(R"(result y pred[6]
y[0] = nan < nan
y[1] = nan != nan
y[2] = total_lt(-0.0, 0.0)
y[3] = -0.0 < 0.0
y[4] = total_gt(nan, inf)
y[5] = bitcast_convert(u32, 1.0) == u32(1065353216)
)",
                          {}),
              ElementsAre(0, 1, 1, 0, 1, 1));
  EXPECT_THAT(RunToValues(R"(result y s8[4]
y[0] = convert(s8, 300.0)
y[1] = convert(s8, nan)
y[2] = convert(s8, bf16(-2.75))
y[3] = convert(s8, index(f32, 5))
)",
                          {}),
              ElementsAre(127, 0, -2, 5));
  const std::vector<double> y = RunToValues(R"(result y f32[2]
y[0] = maximum(nan, 1)
y[1] = clamp(0.0, 7.0, 2.0)
)",
                                            {});
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 2);
}

// Every elementwise opcode over every type, against the evaluator.
TEST(LoopInterpreter, ComputesWhatTheEvaluatorComputes) {
  int compared = 0;
  for (int number = 1; number < hlo::kOpcodeCount; ++number) {
    const auto opcode = static_cast<hlo::Opcode>(number);
    const int arity = hlo::OpcodeArity(opcode);
    if (!hlo::IsElementwise(opcode) || arity > 2 ||
        opcode == hlo::Opcode::kCompare || opcode == hlo::Opcode::kConvert ||
        opcode == hlo::Opcode::kBitcastConvert ||
        opcode == hlo::Opcode::kReducePrecision) {
      continue;
    }
    std::string call(hlo::OpcodeName(opcode));
    std::replace(call.begin(), call.end(), '-', '_');
    for (const char* type : {"f32", "f64", "bf16", "f16", "s8", "s32", "u16",
                             "u64", "pred", "c64"}) {
      for (const char* result : {type, "pred", "f32", "c64"}) {
        const absl::StatusOr<Program> program = ParseProgram(absl::StrCat(
            "kernel k\nargument a ", type, "[9]\n",
            arity == 2 ? absl::StrCat("argument b ", type, "[9]\n") : "",
            "result y ", result, "[9]\nfor i 9\n| y[i] = ", call, "(a[i]",
            arity == 2 ? ", b[i]" : "", ")\n"));
        if (!program.ok()) continue;
        HONE_ASSERT_OK_AND_ASSIGN(
            const hlo::Module module,
            hlo::ParseHloText(absl::StrCat(
                "HloModule m\nENTRY e {\n  a = ", type, "[9] parameter(0)\n",
                arity == 2 ? absl::StrCat("  b = ", type, "[9] parameter(1)\n")
                           : "",
                "  ROOT y = ", result, "[9] ", hlo::OpcodeName(opcode), "(a",
                arity == 2 ? ", b" : "", ")\n}")));
        const std::vector<hlo::Literal> arguments =
            RandomArguments(*program, 5);
        HONE_ASSERT_OK_AND_ASSIGN(const std::vector<hlo::Literal> actual,
                                  Interpret(*program, arguments));
        HONE_ASSERT_OK_AND_ASSIGN(const hlo::Literal expected,
                                  hlo::Evaluate(module, arguments));
        // Vectorized functions may differ in the last place.
        EXPECT_TRUE(hlo::CompareLiterals(expected, actual[0]).equal)
            << call << " of " << type;
        ++compared;
        break;
      }
    }
  }
  EXPECT_GT(compared, 200);
}

TEST(LoopInterpreter, IsFastEnoughForTests) {
  const std::vector<double> c = RunToValues(R"(result c f32[64,64]
local a f32[64,64] heap
for i 64
| for j 64
| | a[i,j] = 0.5
for i 64
| for j 64
| | c[i,j] = 0.0
| | for k 64
| | | c[i,j] += a[i,k] * a[k,j]
)",
                                            {});
  EXPECT_EQ(c, std::vector<double>(64 * 64, 16.0));
}

TEST(LoopInterpreter, ReductionsCombine) {
  EXPECT_THAT(RunToValues(R"(argument x s32[3]
result y s32[7]
for i 7
| y[i] = s32(3)
for i 3
| y[0] += x[i]
| y[1] *= x[i]
| y[2] max= x[i]
| y[3] min= x[i]
| y[4] and= x[i]
| y[5] or= x[i]
| y[6] xor= x[i]
)",
                          {Ints({5, 6, 1})}),
              ElementsAre(15, 90, 6, 1, 0, 7, 1));
}

TEST(LoopInterpreter, RefusesArgumentsThatDoNotFit) {
  const std::string text =
      "argument x f32[3]\nresult y f32[3]\nfor i 3\n| y[i] = x[i]\n";
  EXPECT_THAT(Execute(text, {}), StatusIs(kInvalid, "0 arguments, expected 1"));
  EXPECT_THAT(Execute(text, {Floats({1, 2})}),
              StatusIs(kInvalid, "argument 0 is f32[2], expected f32[3]"));
  EXPECT_THAT(Execute(text, {Ints({1, 2, 3})}),
              StatusIs(kInvalid, "argument 0 is s32[3], expected f32[3]"));
  EXPECT_THAT(Execute(text, {hlo::Literal::Elided(hlo::Shape::Array(
                                hlo::ElementType::kF32, {3}))}),
              StatusIs(kInvalid, HasSubstr("without values")));
}

TEST(LoopInterpreter, RefusesProgramsThatAreNotWellFormed) {
  Program program = testing::ParseExample("transpose");
  const std::vector<hlo::Literal> arguments = RandomArguments(program, 1);
  auto statement = *program.At({0, 0, 0, 0}).statement();
  statement.target.buffer = 7;
  program.Replace({0, 0, 0, 0},
                  {Node(std::make_shared<const Statement>(statement))});
  EXPECT_THAT(Interpret(program, arguments),
              StatusIs(kInvalid, HasSubstr("at 0.0.0.0: no buffer")));
}

// Their first values come after the arguments, by number.
TEST(LoopInterpreter, InOutArraysKeepWhatIsNotWritten) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const std::vector<hlo::Literal> results,
      Execute(R"(inout y f32[3]
argument x f32[2]
result r f32[1]
inout z f32[2]
r[0] = y[1]
y[1] = x[1] + z[0]
z[{s32(1)}] += x[0]
)",
              {Floats({1, 2}), Floats({10, 20, 30}), Floats({100, 200})}));
  ASSERT_EQ(results.size(), 3u);
  EXPECT_THAT(Values(results[0]), ElementsAre(10, 102, 30));
  EXPECT_THAT(Values(results[1]), ElementsAre(20));
  EXPECT_THAT(Values(results[2]), ElementsAre(100, 201));
}

}  // namespace
}  // namespace hone::loops
