#include "hlo/evaluator/evaluator.h"

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/evaluator/buffer_pool.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

Module Parse(const std::string& text) {
  absl::StatusOr<Module> module = ParseHloText(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

Literal Floats(std::vector<float> values) {
  Literal literal(
      Shape::Array(ElementType::kF32, {static_cast<int64_t>(values.size())}));
  std::copy(values.begin(), values.end(),
            literal.mutable_values<float>().begin());
  return literal;
}

std::vector<float> ValuesOf(const Literal& literal) {
  return {literal.values<float>().begin(), literal.values<float>().end()};
}

constexpr char kSum[] = R"(HloModule m
ENTRY e {
  a = f32[2] parameter(0)
  b = f32[2] parameter(1)
  s = f32[2] add(a, b)
  ROOT t = f32[2] multiply(s, s)
})";

TEST(Evaluator, LeavesArgumentsAsTheyWere) {
  const Module module = Parse(kSum);
  const std::vector<Literal> arguments = {Floats({1, 2}), Floats({3, 4})};
  const absl::StatusOr<Literal> result = Evaluate(module, arguments);
  ASSERT_THAT(result, testing::IsOk());
  EXPECT_EQ(ValuesOf(*result), std::vector<float>({16, 36}));
  EXPECT_EQ(ValuesOf(arguments[0]), std::vector<float>({1, 2}));
  EXPECT_EQ(ValuesOf(arguments[1]), std::vector<float>({3, 4}));
}

TEST(Evaluator, HandsOverOutputsAsSoonAsTheyAreThere) {
  const Module module = Parse(R"(HloModule m
ENTRY e {
  a = f32[2] parameter(0)
  b = f32[2] parameter(1)
  s = f32[2] add(a, b)
  n = f32[2] negate(s)
  p = f32[2] multiply(n, n)
  ROOT t = (f32[2], f32[2], f32[2], f32[2]) tuple(s, b, p, s)
})");
  const std::vector<Literal> arguments = {Floats({1, 2}), Floats({3, 4})};
  std::vector<std::vector<float>> taken(4);
  std::vector<std::string> seen;
  EvaluateOptions options;
  options.take_output = [&](int64_t i, Literal value) {
    taken[static_cast<size_t>(i)] = ValuesOf(value);
    return absl::OkStatus();
  };
  options.on_value = [&](InstructionId id, const Literal&) {
    seen.push_back(module.entry_computation()[id].name());
  };
  const absl::StatusOr<Literal> result = Evaluate(module, arguments, options);
  ASSERT_THAT(result, testing::IsOk());
  EXPECT_TRUE(result->elements().empty());
  EXPECT_EQ(taken, (std::vector<std::vector<float>>{
                       {4, 6}, {3, 4}, {16, 36}, {4, 6}}));
  // n is needed twice, but by one instruction.
  EXPECT_EQ(seen, (std::vector<std::string>{"s", "p"}));
  EXPECT_EQ(ValuesOf(arguments[1]), std::vector<float>({3, 4}));
  options.take_output = [](int64_t, Literal) {
    return absl::CancelledError("enough");
  };
  EXPECT_THAT(Evaluate(module, arguments, options),
              StatusIs(absl::StatusCode::kCancelled, "enough"));
}

TEST(Evaluator, SharesMemoryBetweenEvaluations) {
  const Module module = Parse(kSum);
  const std::vector<Literal> arguments = {Floats({1, 2}), Floats({3, 4})};
  EvaluateOptions options;
  options.buffers = evaluator::BufferPool::Create(1 << 20);
  {
    const absl::StatusOr<Literal> a = Evaluate(module, arguments, options);
    const absl::StatusOr<Literal> b = Evaluate(module, arguments, options);
    ASSERT_THAT(b, testing::IsOk());
    EXPECT_EQ(options.buffers->live_bytes(), 128);
  }
  EXPECT_EQ(options.buffers->live_bytes(), 0);
  options.buffers = evaluator::BufferPool::Create(1);
  EXPECT_THAT(Evaluate(module, arguments, options),
              StatusIs(absl::StatusCode::kResourceExhausted, ::testing::_));
}

// Windows that are prefixes or suffixes are evaluated in linear time.
TEST(Evaluator, CumulativeWindows) {
  const Module module = Parse(R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
horner {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  two = f32[] constant(2)
  m = f32[] multiply(a, two)
  ROOT c = f32[] add(m, b)
}
ENTRY e {
  v = f32[6] parameter(0)
  x = f32[3,2] reshape(v)
  z = f32[] constant(0)
  one = f32[] constant(1)
  prefix = f32[3,2] reduce-window(x, z), window={size=3x1 pad=2_0x0_0}, to_apply=add
  suffix = f32[3,2] reduce-window(x, one), window={size=1x2 pad=0_0x0_1}, to_apply=add
  region = f32[3,2] reduce-window(x, one), window={size=3x1 pad=2_0x0_0}, to_apply=horner
  back = f32[3,2] reduce-window(x, z), window={size=3x1 pad=0_2x0_0}, to_apply=horner
  ROOT t = (f32[3,2], f32[3,2], f32[3,2], f32[3,2]) tuple(prefix, suffix, region, back)
})");
  const absl::StatusOr<Literal> result =
      Evaluate(module, std::vector<Literal>{Floats({1, 2, 3, 4, 5, 6})});
  ASSERT_THAT(result, testing::IsOk());
  EXPECT_EQ(ValuesOf(result->elements()[0]),
            std::vector<float>({1, 2, 4, 6, 9, 12}));
  EXPECT_EQ(ValuesOf(result->elements()[1]),
            std::vector<float>({4, 3, 8, 5, 12, 7}));
  EXPECT_EQ(ValuesOf(result->elements()[2]),
            std::vector<float>({3, 4, 9, 12, 23, 30}));
  EXPECT_EQ(ValuesOf(result->elements()[3]),
            std::vector<float>({15, 22, 11, 14, 5, 6}));
}

// A bitcast reads the memory of its operand, which the layouts describe.
TEST(Evaluator, BitcastsThroughLayouts) {
  const auto run = [](const std::string& text) {
    const Module module = Parse(text);
    Literal argument(Shape::Array(ElementType::kF32, {2, 3}));
    for (int64_t i = 0; i < 6; ++i) {
      argument.SetDouble(i, static_cast<double>(i));
    }
    const absl::StatusOr<Literal> result = Evaluate(module, {argument});
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? ValuesOf(*result) : std::vector<float>();
  };
  EXPECT_EQ(run(R"(HloModule m
ENTRY e {
  p = f32[2,3]{1,0} parameter(0)
  ROOT b = f32[6]{0} bitcast(p)
})"),
            std::vector<float>({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(run(R"(HloModule m
ENTRY e {
  p = f32[2,3]{0,1} parameter(0)
  ROOT b = f32[6]{0} bitcast(p)
})"),
            std::vector<float>({0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(run(R"(HloModule m
ENTRY e {
  p = f32[2,3]{0,1} parameter(0)
  ROOT b = f32[3,2]{1,0} bitcast(p)
})"),
            std::vector<float>({0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(run(R"(HloModule m
ENTRY e {
  p = f32[2,3]{1,0} parameter(0)
  ROOT b = f32[3,2]{0,1} bitcast(p)
})"),
            std::vector<float>({0, 3, 1, 4, 2, 5}));
  // The copy hands its operand on, with the layout of the copy.
  EXPECT_EQ(run(R"(HloModule m
ENTRY e {
  p = f32[2,3]{1,0} parameter(0)
  c = f32[2,3]{0,1} copy(p)
  ROOT b = f32[6]{0} bitcast(c)
})"),
            std::vector<float>({0, 3, 1, 4, 2, 5}));
}

TEST(Evaluator, LeavesConstantsAsTheyWere) {
  const Module module = Parse(R"(HloModule m
ENTRY e {
  c = f32[2] constant({1, 2})
  z = s32[] constant(0)
  u = f32[1] constant({7})
  ROOT r = f32[2] dynamic-update-slice(c, u, z)
})");
  for (int run = 0; run < 2; ++run) {
    const absl::StatusOr<Literal> result = Evaluate(module, {});
    ASSERT_THAT(result, testing::IsOk());
    EXPECT_EQ(ValuesOf(*result), std::vector<float>({7, 2}));
  }
  const Computation& entry = module.entry_computation();
  for (InstructionId id : entry.LiveInstructions()) {
    if (entry[id].name() == "c") {
      EXPECT_EQ(ValuesOf(*entry[id].literal()), std::vector<float>({1, 2}));
    }
  }
}

TEST(Evaluator, ResultOutlivesTheEvaluation) {
  absl::StatusOr<Literal> result;
  {
    const Module module = Parse(kSum);
    result = Evaluate(module, {Floats({1, 0}), Floats({0, 1})});
  }
  ASSERT_THAT(result, testing::IsOk());
  EXPECT_EQ(ValuesOf(*result), std::vector<float>({1, 1}));
}

TEST(Evaluator, SkipsWhatTheRootDoesNotNeed) {
  const Module module = Parse(R"(HloModule m
ENTRY e {
  a = f32[2] parameter(0)
  s = u64[2] constant({1, 2})
  r = (u64[2], u32[2]) rng-bit-generator(s), algorithm=rng_default
  ROOT t = f32[2] negate(a)
})");
  HONE_EXPECT_OK(Evaluate(module, {Floats({1, 2})}));
}

TEST(Evaluator, RejectsWrongArguments) {
  const Module module = Parse(kSum);
  EXPECT_THAT(Evaluate(module, {Floats({1, 2})}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("1 arguments given, expected 2")));
  EXPECT_THAT(Evaluate(module, {Floats({1, 2}), Floats({1, 2, 3})}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("argument 1 has shape f32[3]")));
}

TEST(Evaluator, NamesWhatItCannotEvaluate) {
  EXPECT_THAT(Evaluate(Parse(R"(HloModule m
ENTRY e {
  a = f32[2] parameter(0)
  ROOT odd = f32[2] custom-call(a), custom_call_target="Mystery"
})"),
                       {Floats({1, 2})}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("custom-call to \"Mystery\" of shape f32[2] "
                                 "(instruction odd)")));
  EXPECT_THAT(Evaluate(Parse(R"(HloModule m
ENTRY e {
  ROOT odd = f32[] custom-call(), custom_call_target="a\n\033[31mb"
})"),
                       {}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("custom-call to \"a\\n\\x1b[31mb\" of")));
  EXPECT_THAT(Evaluate(Parse(R"(HloModule m
ENTRY e {
  ROOT c = f32[100] constant({...})
})"),
                       {}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("left out of the text")));
  EXPECT_THAT(Evaluate(Parse(R"(HloModule m
ENTRY e {
  s = u64[2] constant({1, 2})
  ROOT r = (u64[2], u32[2]) rng-bit-generator(s), algorithm=rng_default
})"),
                       {}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("default algorithm")));
}

TEST(Evaluator, GivesUpOverTheMemoryLimit) {
  const Module module = Parse(R"(HloModule m
ENTRY e {
  a = f32[] parameter(0)
  b = f32[1000,1000] broadcast(a), dimensions={}
  ROOT t = f32[1000,1000] transpose(b), dimensions={1,0}
})");
  EvaluateOptions options;
  options.max_live_bytes = 1 << 20;
  EXPECT_THAT(
      Evaluate(module, {Literal::Scalar(ElementType::kF32, 1)}, options),
      StatusIs(absl::StatusCode::kResourceExhausted,
               HasSubstr("expected at most 1048576")));
}

TEST(Evaluator, FreesBuffersAfterTheirLastUse) {
  // A hundred results of 4 MB each under a limit of 16 MB.
  std::string text =
      "HloModule m\nENTRY e {\n  x0 = f32[1000,1000] parameter(0)\n";
  for (int i = 1; i <= 100; ++i) {
    const std::string now = std::to_string(i);
    text += "  x" + now + " = f32[1000,1000] transpose(x" +
            std::to_string(i - 1) + "), dimensions={1,0}\n";
  }
  text += "  ROOT r = f32[1000,1000] copy(x100)\n}";
  Literal argument(Shape::Array(ElementType::kF32, {1000, 1000}));
  for (float& x : argument.mutable_values<float>()) x = 1;
  EvaluateOptions options;
  options.max_live_bytes = 16 << 20;
  HONE_EXPECT_OK(Evaluate(Parse(text), {argument}, options));
}

constexpr char kEndlessLoop[] = R"(HloModule m
condition {
  x = s32[] parameter(0)
  ROOT t = pred[] constant(true)
}
body {
  x = s32[] parameter(0)
  o = s32[] constant(1)
  ROOT r = s32[] add(x, o)
}
ENTRY e {
  a = s32[] parameter(0)
  ROOT w = s32[] while(a), condition=condition, body=body
})";

TEST(Evaluator, StopsAtTheLimitOnLoopSteps) {
  EvaluateOptions options;
  options.max_loop_steps = 100;
  EXPECT_THAT(
      Evaluate(Parse(kEndlessLoop), {Literal::ScalarInt(ElementType::kS32, 0)},
               options),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("loop steps")));
}

TEST(Evaluator, StopsAtTheTimeLimit) {
  const Module module = Parse(kEndlessLoop);
  EvaluateOptions options;
  options.time_limit = absl::Milliseconds(20);
  EXPECT_THAT(
      Evaluate(module, {Literal::ScalarInt(ElementType::kS32, 0)}, options),
      StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("time limit")));
}

TEST(Evaluator, EvaluatesOneInstruction) {
  const Module module = Parse(kSum);
  const Computation& entry = module.entry_computation();
  const absl::StatusOr<Literal> result =
      EvaluateInstruction(module, entry, entry[entry.root()].operand(0),
                          {Floats({1, 2}), Floats({3, 4})});
  ASSERT_THAT(result, testing::IsOk());
  EXPECT_EQ(ValuesOf(*result), std::vector<float>({4, 6}));
  EXPECT_THAT(EvaluateInstruction(module, entry, entry.root(), {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("0 operands given, expected 2")));
}

TEST(Evaluator, RefusesTuplesWithElidedValues) {
  for (const char* lines :
       {"c = (f32[2]) constant(({...}))\n"
        "x = f32[2] get-tuple-element(c), index=0\n"
        "ROOT r = f32[2] add(x, x)",
        "c = ((f32[2], f32[2])) constant((({1, 2}, {...})))\n"
        "t = (f32[2], f32[2]) get-tuple-element(c), index=0\n"
        "x = f32[2] get-tuple-element(t), index=1\n"
        "ROOT r = f32[1] slice(x), slice={[1:2]}"}) {
    const Module module =
        Parse(std::string("HloModule m\nENTRY e {\n") + lines + "\n}");
    EXPECT_THAT(Evaluate(module, {}),
                StatusIs(absl::StatusCode::kUnimplemented,
                         HasSubstr("its values were left out of the text")))
        << lines;
  }
}

// A region with more than scalar arithmetic takes the slow path.
TEST(Evaluator, AppliesRegionsThatAreNotScalarArithmetic) {
  const Module module = Parse(R"(HloModule m
f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  v = f32[2] broadcast(a), dimensions={}
  s = f32[1] slice(v), slice={[0:1]}
  t = f32[] reshape(s)
  ROOT r = f32[] add(t, b)
}
ENTRY e {
  a = f32[3] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply=f
})");
  const absl::StatusOr<Literal> result = Evaluate(module, {Floats({1, 2, 4})});
  ASSERT_THAT(result, testing::IsOk());
  EXPECT_EQ(result->AsDouble(0), 7);
}

}  // namespace
}  // namespace hone::hlo
