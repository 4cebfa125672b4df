#include "tuning/verify.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/passes/pipeline.h"
#include "hlo/text/printer.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_modules.h"

namespace hone::tuning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Two outputs: one small, one through 64 MiB of intermediate results.
constexpr absl::string_view kLarge = R"(
HloModule large

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  small = f32[4] multiply(x, y)
  wide = f32[4,4194304] broadcast(x), dimensions={0}
  index = f32[4,4194304] iota(), iota_dimension=1
  product = f32[4,4194304] multiply(wide, index)
  zero = f32[] constant(0)
  total = f32[4] reduce(product, zero), dimensions={1}, to_apply=add
  ROOT result = (f32[4], f32[4]) tuple(small, total)
}
)";

hlo::Module Replaced(absl::string_view text, absl::string_view from,
                     absl::string_view to) {
  const std::string changed = absl::StrReplaceAll(text, {{from, to}});
  EXPECT_NE(changed, text);
  return ParseOrDie(changed);
}

TEST(VerifyRewrite, AcceptsWhatPassesMakeAndSaysHowItWasChecked) {
  const hlo::Module input = ParseOrDie(kSimplifiable);
  hlo::Module rewritten = input;
  HONE_ASSERT_OK(hlo::RunPipeline(rewritten, "xla-cpu").status());
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Verification verification,
                            VerifyRewrite(input, rewritten, {}));
  EXPECT_EQ(verification.method, "evaluator: 2 random, 1 adversarial inputs");
  EXPECT_LT(verification.max_rel_error, 1e-6);
}

TEST(VerifyRewrite, AModuleWithOtherNamesIsIdentical) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const storage::Verification verification,
      VerifyRewrite(ParseOrDie(kSimplifiable),
                    Replaced(kSimplifiable, "sum", "total"), {}));
  EXPECT_EQ(verification.method, "identical to the input");
}

TEST(VerifyRewrite, RefusesSubtleMiscompilations) {
  const hlo::Module input = ParseOrDie(kSimplifiable);
  const auto differ = StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasSubstr("modules differ"));
  EXPECT_THAT(
      VerifyRewrite(
          input, Replaced(kSimplifiable, "constant(0)", "constant(0.001)"), {}),
      differ);
  EXPECT_THAT(
      VerifyRewrite(
          input,
          Replaced(kSimplifiable, "b = f32[4] multiply", "b = f32[4] add"), {}),
      differ);
}

TEST(VerifyRewrite, RefusesAnotherSignature) {
  EXPECT_THAT(VerifyRewrite(ParseOrDie(kSimplifiable),
                            Replaced(kSimplifiable, "f32[4]", "f32[5]"), {}),
              StatusIs(absl::StatusCode::kFailedPrecondition, ::testing::_));
}

TEST(VerifyRewrite, AModuleTooLargeIsCheckedInPartAndSaysSo) {
  const hlo::Module input = ParseOrDie(kLarge);
  const hlo::Module rewritten =
      Replaced(kLarge, "multiply(x, y)", "multiply(y, x)");
  VerifyOptions options;
  options.max_live_bytes = 1 << 20;
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Verification verification,
                            VerifyRewrite(input, rewritten, options));
  EXPECT_THAT(verification.method,
              AllOf(HasSubstr("scaled down"), HasSubstr("1 random input"),
                    HasSubstr("1 of 2 outputs")));
}

TEST(VerifyRewrite, ThePartialCheckRefusesWhatItSees) {
  VerifyOptions options;
  options.max_live_bytes = 1 << 20;
  EXPECT_THAT(
      VerifyRewrite(ParseOrDie(kLarge),
                    Replaced(kLarge, "multiply(x, y)", "add(x, y)"), options),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               HasSubstr("modules differ")));
}

// One output that can be evaluated, and one that cannot.
constexpr absl::string_view kForeign = R"(
HloModule foreign

ENTRY main {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  sum = f32[4] add(x, y)
  call = f32[4] custom-call(sum), custom_call_target="elsewhere"
  twice = f32[4] add(call, call)
  ROOT result = (f32[4], f32[4]) tuple(sum, twice)
}
)";

TEST(CheckEvaluable, NamesWhatCannotBeEvaluated) {
  HONE_EXPECT_OK(CheckEvaluable(ParseOrDie(kSimplifiable)));
  EXPECT_THAT(CheckEvaluable(ParseOrDie(kForeign)),
              StatusIs(absl::StatusCode::kUnimplemented,
                       AllOf(HasSubstr("elsewhere"), HasSubstr("call"))));
  // What no output needs does not matter.
  HONE_EXPECT_OK(
      CheckEvaluable(Replaced(kForeign, "tuple(sum, twice)", "tuple(sum, y)")));
  EXPECT_THAT(
      CheckEvaluable(Replaced(kSimplifiable, "zero = f32[] constant(0)",
                              "many = f32[2] constant({...})\n"
                              "  first = f32[1] slice(many), slice={[0:1]}\n"
                              "  zero = f32[] reshape(first)")),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("many")));
}

TEST(VerifyRewrite, CallersSeeTheSameInterface) {
  constexpr char kTransposed[] = R"(
HloModule m, input_output_alias={ {}: (0, {}, may-alias) }, frontend_attributes={a="b"}, entry_computation_layout={(f32[2,3]{1,0})->f32[2,3]{1,0}}
ENTRY e {
  p = f32[2,3]{1,0} parameter(0), sharding={replicated}
  ROOT r = f32[2,3]{1,0} negate(p)
})";
  const hlo::Module input = ParseOrDie(kTransposed);
  const auto verify = [&](absl::string_view from, absl::string_view to) {
    return VerifyRewrite(
               input,
               ParseOrDie(absl::StrReplaceAll(kTransposed, {{from, to}})), {})
        .status();
  };
  const auto differ = [](absl::string_view what) {
    return StatusIs(absl::StatusCode::kFailedPrecondition,
                    HasSubstr(absl::StrCat("modules differ: ", what)));
  };
  EXPECT_THAT(verify("->f32[2,3]{1,0}", "->f32[2,3]{0,1}"),
              differ("entry layout of the result"));
  EXPECT_THAT(verify("input_output_alias={ {}: (0, {}, may-alias) }, ", ""),
              differ("input_output_alias of the module"));
  EXPECT_THAT(verify(", sharding={replicated}", ""),
              differ("sharding of parameter 0"));
  EXPECT_THAT(verify("negate(p)", "negate(p), sharding={replicated}"),
              differ("sharding of the result"));
  // What hone diff ignores.
  EXPECT_THAT(verify("HloModule m", "HloModule m, is_scheduled=true"),
              differ("the rewritten module has another header"));
  EXPECT_THAT(verify("sharding={replicated}",
                     "sharding={replicated}, origin={{\"p\"}}"),
              differ("the rewritten module has other attributes of parameter"));
  EXPECT_THAT(verify(R"(a="b")", R"(a="c")"),
              differ("the rewritten module has another header"));
}

// The output with `dead` beside it.
hlo::Module Beside(absl::string_view dead) {
  return ParseOrDie(absl::StrCat(R"(
HloModule effects

body {
  q = f32[4] parameter(0)
  note = () custom-call(q), custom_call_target="note", custom_call_has_side_effect=true
  ROOT n = f32[4] negate(q)
}

condition {
  q = f32[4] parameter(0)
  ROOT c = pred[] constant(false)
}

ENTRY main {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  sum = f32[4] add(x, y)
)",
                                 dead, R"(
  ROOT result = f32[4] negate(sum)
}
)"));
}

constexpr absl::string_view kNote =
    "note = () custom-call(sum), custom_call_target=\"note\", "
    "custom_call_has_side_effect=true";
constexpr absl::string_view kNotes =
    "loop = f32[4] while(sum), condition=condition, body=body";

TEST(VerifyRewrite, SideEffectsStay) {
  for (absl::string_view effect : {kNote, kNotes}) {
    EXPECT_THAT(VerifyRewrite(Beside(effect), Beside(""), {}),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("side effect custom-call note")));
  }
}

TEST(VerifyRewrite, WhatSideEffectsTakeIsJudged) {
  const auto verify = [&](absl::string_view sum) {
    return VerifyRewrite(
               Beside(kNote),
               Replaced(hlo::PrintModule(Beside(kNote)), "add(x, y)", sum), {})
        .status();
  };
  HONE_EXPECT_OK(verify("add(y, x)"));
  EXPECT_THAT(
      VerifyRewrite(Beside(kNote),
                    Beside(absl::StrReplaceAll(kNote, {{"(sum)", "(x)"}})), {}),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               HasSubstr("modules differ")));
}

TEST(VerifyRewrite, BesideEffectsInALoopOnlyExactRewritesPass) {
  const hlo::Module input = Beside(kNotes);
  const hlo::Module rewritten =
      Replaced(hlo::PrintModule(input), "add(x, y)", "add(y, x)");
  EXPECT_THAT(CheckEvaluable(input),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("note")));
  EXPECT_THAT(VerifyRewrite(input, rewritten, {}),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("note")));
  VerifyOptions options;
  options.numerics = hlo::Numerics::kExact;
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Verification verification,
                            VerifyRewrite(input, rewritten, options));
  EXPECT_THAT(verification.method,
              AllOf(HasSubstr("1 of 1 outputs, exact rewrites only"),
                    HasSubstr("note")));
}

TEST(VerifyRewrite, PromisesAreKept) {
  constexpr absl::string_view kDot =
      "d = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}";
  EXPECT_THAT(
      VerifyRewrite(Beside(kDot),
                    Beside(absl::StrCat(kDot, ", algorithm=dot_bf16_bf16_f32")),
                    {}),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               HasSubstr("algorithm of a dot")));
}

TEST(VerifyRewrite, ExactRewritesNeedNoEvaluation) {
  const hlo::Module input = ParseOrDie(kForeign);
  const hlo::Module rewritten = Replaced(kForeign, "add(x, y)", "add(y, x)");
  EXPECT_THAT(VerifyRewrite(input, rewritten, {}),
              StatusIs(absl::StatusCode::kUnimplemented, ::testing::_));
  VerifyOptions options;
  options.numerics = hlo::Numerics::kExact;
  HONE_ASSERT_OK_AND_ASSIGN(storage::Verification verification,
                            VerifyRewrite(input, rewritten, options));
  EXPECT_THAT(
      verification.method,
      AllOf(HasSubstr("evaluator: 2 random, 1 adversarial inputs, 1 of 2 "
                      "outputs, exact rewrites only (cannot evaluate "),
            HasSubstr("elsewhere")));
  const auto call_first = [](absl::string_view sum) {
    return Replaced(kForeign, "tuple(sum, twice)",
                    absl::StrCat("tuple(call, ", sum, ")"));
  };
  HONE_ASSERT_OK_AND_ASSIGN(
      verification, VerifyRewrite(call_first("twice"),
                                  ParseOrDie(absl::StrReplaceAll(
                                      hlo::PrintModule(call_first("twice")),
                                      {{"add(x, y)", "add(y, x)"}})),
                                  options));
  EXPECT_THAT(verification.method,
              AllOf(::testing::StartsWith("not evaluated (cannot evaluate "),
                    ::testing::EndsWith("), exact rewrites only")));
}

TEST(VerifyRewrite, WhatCanBeEvaluatedOfExactRewritesIsJudged) {
  VerifyOptions options;
  options.numerics = hlo::Numerics::kExact;
  EXPECT_THAT(
      VerifyRewrite(ParseOrDie(kForeign),
                    Replaced(kForeign, "add(x, y)", "subtract(x, y)"), options),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               HasSubstr("modules differ")));
}

TEST(VerifyRewrite, WithoutRoomForAnyCheckItIsAnError) {
  VerifyOptions options;
  options.max_live_bytes = 1;
  EXPECT_THAT(
      VerifyRewrite(ParseOrDie(kLarge),
                    Replaced(kLarge, "multiply(x, y)", "multiply(y, x)"),
                    options),
      StatusIs(absl::StatusCode::kResourceExhausted, ::testing::_));
}

}  // namespace
}  // namespace hone::tuning
