#include "hlo/equivalence/effects.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/equivalence/equivalence.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Optional;

Module Parse(const std::string& text) {
  absl::StatusOr<Module> module = ParseHloText(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// -p, beside which `dead` runs.
Module Beside(const std::string& dead) {
  return Parse(
      absl::StrCat("HloModule m\nENTRY e {\n  p = f32[8] parameter(0)\n"
                   "  t = token[] after-all()\n",
                   dead, "\n  ROOT r = f32[8] negate(p)\n}"));
}

constexpr char kPrint[] =
    "  c = () custom-call(p), custom_call_target=\"print\", "
    "custom_call_has_side_effect=true";
constexpr char kPure[] =
    "  c = f32[8] custom-call(p), custom_call_target=\"print\"";
constexpr char kOutfeed[] = "  o = token[] outfeed(p, t), outfeed_shape=f32[8]";
constexpr char kRng[] = "  s = u64[1] rng-get-and-update-state(), delta=1";

TEST(EffectDifference, EffectsInDeadCodeStay) {
  for (const char* effect : {kPrint, kOutfeed, kRng}) {
    EXPECT_EQ(EffectDifference(Beside(effect), Beside(effect)), std::nullopt);
    EXPECT_THAT(EffectDifference(Beside(effect), Beside("")),
                Optional(HasSubstr(": 1 in the original, 0 in the rewrite")));
    EXPECT_THAT(EffectDifference(Beside(""), Beside(effect)),
                Optional(HasSubstr(": 0 in the original, 1 in the rewrite")));
  }
  EXPECT_THAT(EffectDifference(Beside(kPrint), Beside("")),
              Optional(HasSubstr("custom-call print")));
}

// A call that becomes the root takes the root's sharding, as in XLA.
TEST(EffectDifference, AShardingMayComeButNotGo) {
  const std::string sharded = absl::StrCat(kPrint, ", sharding={replicated}");
  EXPECT_EQ(EffectDifference(Beside(kPrint), Beside(sharded)), std::nullopt);
  EXPECT_EQ(EffectDifference(Beside(sharded), Beside(sharded)), std::nullopt);
  EXPECT_THAT(EffectDifference(Beside(sharded), Beside(kPrint)),
              Optional(HasSubstr("with sharding {replicated}: 1 in the "
                                 "original, 0 in the rewrite")));
  EXPECT_NE(EffectDifference(
                Beside(sharded),
                Beside(absl::StrCat(kPrint, ", sharding={maximal device=1}"))),
            std::nullopt);
}

TEST(EffectDifference, AnotherTargetOrAttributeIsAnotherEffect) {
  const std::string other =
      "  c = () custom-call(p), custom_call_target=\"log\", "
      "custom_call_has_side_effect=true";
  EXPECT_NE(EffectDifference(Beside(kPrint), Beside(other)), std::nullopt);
  EXPECT_NE(
      EffectDifference(Beside(kPrint),
                       Beside(absl::StrCat(kPrint, ", backend_config=\"x\""))),
      std::nullopt);
}

TEST(EffectDifference, WhatHasNoEffectMayGo) {
  for (const char* dead :
       {kPure, "  a = f32[8] add(p, p)", "  b = f32[8] opt-barrier(p)",
        "  d = f32[8] rng-bit-generator(p), algorithm=rng_default"}) {
    EXPECT_EQ(EffectDifference(Beside(dead), Beside("")), std::nullopt) << dead;
  }
}

// A loop over `body`, and what comes after it.
std::string WithBody(const std::string& body, const std::string& entry) {
  return absl::StrCat("HloModule m\n\nbody {\n  p = f32[8] parameter(0)\n",
                      body,
                      R"(
  ROOT n = f32[8] negate(p)
}

condition {
  p = f32[8] parameter(0)
  ROOT c = pred[] constant(false)
}

ENTRY e {
  p = f32[8] parameter(0)
)",
                      entry, "\n  ROOT r = f32[8] negate(p)\n}");
}

constexpr char kLoop[] =
    "  w = f32[8] while(p), condition=condition, body=body";

TEST(EffectDifference, ADeadLoopMayGoUnlessItHasEffects) {
  const Module none = Parse(WithBody("", ""));
  EXPECT_EQ(EffectDifference(Parse(WithBody("", kLoop)), none), std::nullopt);
  EXPECT_NE(EffectDifference(Parse(WithBody(kPrint, kLoop)), none),
            std::nullopt);
  // An effect that the entry does not reach is none.
  EXPECT_EQ(EffectDifference(Parse(WithBody(kPrint, "")), none), std::nullopt);
}

TEST(EffectDifference, AnInlinedCallKeepsItsEffect) {
  EXPECT_EQ(EffectDifference(
                Parse(WithBody(kPrint, "  d = f32[8] call(p), to_apply=body")),
                Beside(kPrint)),
            std::nullopt);
}

TEST(WithEffectOperands, JudgesWhatEffectsTake) {
  const Module input = Beside(kOutfeed);
  const Module same = Beside(
      "  n = f32[8] negate(p)\n  m = f32[8] negate(n)\n"
      "  o = token[] outfeed(m, t), outfeed_shape=f32[8]");
  const Module other = Beside(
      "  n = f32[8] negate(p)\n"
      "  o = token[] outfeed(n, t), outfeed_shape=f32[8]");
  const auto compare = [&](const Module& rewrite) {
    const Module a = WithEffectOperands(input).value();
    const Module b = WithEffectOperands(rewrite).value();
    HONE_EXPECT_OK(VerifyModule(a));
    return CheckEquivalent(a, b);
  };
  HONE_ASSERT_OK_AND_ASSIGN(EquivalenceReport report, compare(same));
  EXPECT_TRUE(report.equal);
  HONE_ASSERT_OK_AND_ASSIGN(report, compare(other));
  EXPECT_FALSE(report.equal);
}

TEST(WithEffectOperands, TakesARootThatIsNoTupleInstructionApart) {
  const Module input = Parse(R"(
HloModule m

f {
  p = f32[8] parameter(0)
  n = f32[8] negate(p)
  ROOT t = (f32[8], f32[8]) tuple(p, n)
}

ENTRY e {
  p = f32[8] parameter(0)
  c = () custom-call(p), custom_call_target="print", custom_call_has_side_effect=true
  ROOT r = (f32[8], f32[8]) call(p), to_apply=f
})");
  HONE_ASSERT_OK_AND_ASSIGN(const Module extended, WithEffectOperands(input));
  HONE_EXPECT_OK(VerifyModule(extended));
  EXPECT_EQ(extended.entry_result_shape()->ToString(),
            "(f32[8], f32[8], f32[8])");
}

TEST(WithEffectOperands, RefusesEffectsInLoops) {
  EXPECT_THAT(WithEffectOperands(Parse(WithBody(kPrint, kLoop))),
              StatusIs(absl::StatusCode::kUnimplemented,
                       AllOf(HasSubstr("print"), HasSubstr("body"))));
  HONE_EXPECT_OK(WithEffectOperands(Parse(WithBody("", kLoop))).status());
}

}  // namespace
}  // namespace hone::hlo
