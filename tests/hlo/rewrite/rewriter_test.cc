#include "hlo/rewrite/rewriter.h"

#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/inference/verifier.h"
#include "hlo/rewrite/carried_attributes.h"
#include "hlo/rewrite/makers.h"
#include "tests/hlo/rewrite/entry_module.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const RewriteOptions kOptions;

TEST(Rewriter, ReplacesAndRemovesWhatDies) {
  Module module = EntryModule(R"(
  x = f32[4] parameter(0)
  n = f32[4] negate(x)
  ROOT m = f32[4] negate(n))");
  Rewriter r(module, module.entry(), kOptions);
  EXPECT_TRUE(r.Replace(Find(module, "m"), Find(module, "x")));
  EXPECT_EQ(module.entry_computation().live_count(), 1);
  EXPECT_TRUE(r.changed());
  HONE_EXPECT_OK(VerifyModule(module));
}

TEST(Rewriter, KeepsTheFirstRequestThatDoesNotFitWithItsPlace) {
  Module module = EntryModule(R"(
  x = f32[4] parameter(0)
  y = f32[5] parameter(1)
  ROOT n = f32[4] negate(x))");
  const Module before = module;
  {
    Rewriter r(module, module.entry(), kOptions);
    const InstructionId sum =
        MakeBinary(r, Opcode::kAdd, Find(module, "x"), Find(module, "y"));
    EXPECT_EQ(sum, kNoInstruction);
    // A refused instruction can be used further, and read.
    EXPECT_EQ(MakeUnary(r, Opcode::kNegate, sum), kNoInstruction);
    EXPECT_EQ(r.shape(sum).dimension(3), 1);
    EXPECT_FALSE(r.Replace(Find(module, "n"), sum));
    EXPECT_THAT(r.status().message(),
                AllOf(HasSubstr("rewriter_test.cc:"), HasSubstr("f32[5]"),
                      HasSubstr("f32[4]")));
    EXPECT_EQ(r.status().code(), absl::StatusCode::kInternal);
  }
  EXPECT_TRUE(Module::SharesComputation(module, before, module.entry()));
}

TEST(Rewriter, RefusesAReplacementOfAnotherShape) {
  Module module = EntryModule(R"(
  x = f32[4] parameter(0)
  y = f32[5] parameter(1)
  ROOT n = f32[4] negate(x))");
  Rewriter r(module, module.entry(), kOptions);
  EXPECT_FALSE(r.Replace(Find(module, "n"), Find(module, "y")));
  EXPECT_FALSE(r.ok());
  HONE_EXPECT_OK(VerifyModule(module));
}

TEST(Rewriter, RefusesAReplacementThatUsesWhatItReplaces) {
  Module module = EntryModule(R"(
  x = f32[4] parameter(0)
  ROOT n = f32[4] negate(x))");
  Rewriter r(module, module.entry(), kOptions);
  const InstructionId abs = MakeUnary(r, Opcode::kAbs, Find(module, "n"));
  EXPECT_FALSE(r.Replace(Find(module, "n"), MakeUnary(r, Opcode::kAbs, abs)));
  EXPECT_THAT(r.status().message(),
              HasSubstr("used by what the rewrite added"));
}

TEST(Rewriter, NeverRemovesRootsParametersAndEffects) {
  Module module = EntryModule(R"(
  x = f32[4] parameter(0)
  e = () custom-call(x), custom_call_target="e", custom_call_has_side_effect=true
  ROOT n = f32[4] negate(x))");
  Rewriter r(module, module.entry(), kOptions);
  for (const char* name : {"x", "e", "n"}) r.RemoveDead(Find(module, name));
  EXPECT_EQ(module.entry_computation().live_count(), 3);
  EXPECT_FALSE(r.changed());
}

TEST(Rewriter, GivesTheCopyBackIfNothingWasChanged) {
  Module module = EntryModule("ROOT x = f32[4] parameter(0)");
  const Module before = module;
  {
    Rewriter r(module, module.entry(), kOptions);
    MakeUnary(r, Opcode::kNegate, Find(module, "x"));
    r.EndRewrite();
    EXPECT_FALSE(r.changed());
  }
  EXPECT_TRUE(Module::SharesComputation(module, before, module.entry()));
}

TEST(Rewriter, MayReplaceNothingWithDependenciesEffectsOrDynamicSizes) {
  Module module = EntryModule(R"(
  x = f32[4] parameter(0)
  d = f32[<=4] parameter(1)
  a = f32[4] negate(x)
  b = f32[4] abs(x), control-predecessors={a}
  c = f32[<=4] negate(d)
  s = f32[4] sine(x), result_accuracy={mode=highest}
  o = f32[4] cosine(x), sharding={replicated}
  ROOT t = (f32[4], f32[4], f32[<=4], f32[4], f32[4]) tuple(a, b, c, s, o))");
  Rewriter r(module, module.entry(), kOptions);
  for (const char* name : {"x", "a", "b", "c", "s"}) {
    EXPECT_FALSE(r.MayReplace(Find(module, name))) << name;
  }
  EXPECT_TRUE(r.MayReplace(Find(module, "c"), /*dynamic=*/true));
  EXPECT_TRUE(r.MayReplace(Find(module, "o")));
}

TEST(Rewriter, CarriesAttributesToWhatItAdds) {
  Module module = EntryModule(R"(
  x = f32[4] parameter(0)
  n = f32[4] negate(x), sharding={devices=[2]<=[2]}, frontend_attributes={k="v"}, metadata={op_name="n"}
  ROOT m = f32[4] negate(n))");
  Rewriter r(module, module.entry(), kOptions);
  const InstructionId abs = MakeUnary(r, Opcode::kAbs, Find(module, "x"));
  ASSERT_TRUE(r.Replace(Find(module, "n"), abs));
  EXPECT_EQ(*FindAttribute(r[abs], "sharding"), "{devices=[2]<=[2]}");
  EXPECT_EQ(*FindAttribute(r[abs], "frontend_attributes"), "{k=\"v\"}");
  ASSERT_NE(r[abs].metadata(), nullptr);
}

TEST(Rewriter, MakesWithoutTheAttributesOfAPlace) {
  Module module = EntryModule(R"(
  x = f32[4] parameter(0)
  y = f32[2,4] parameter(1)
  n = f32[4] negate(x), sharding={devices=[2]<=[2]}
  ROOT t = (f32[4], f32[2,4]) tuple(n, y))");
  Rewriter r(module, module.entry(), kOptions);
  const InstructionId like =
      MakeLike(r, Find(module, "n"), {Find(module, "y")});
  EXPECT_EQ(r.dimensions_of(like), (DimensionVector{2, 4}));
  EXPECT_EQ(FindAttribute(r[like], "sharding"), nullptr);
}

TEST(Rewriter, RefusesWhatCannotBeCarried) {
  Module module = EntryModule(R"(
  x = f32[4] parameter(0)
  z = f32[4] parameter(1)
  y = f32[4] abs(x), sharding={devices=[2]<=[2]}
  n = f32[4] negate(y), sharding={replicated}
  p = f32[4] negate(x), sharding={replicated}
  q = f32[4] negate(z), frontend_attributes={k="v"}
  ROOT t = (f32[4], f32[4], f32[4]) tuple(n, p, q))");
  Rewriter r(module, module.entry(), kOptions);
  EXPECT_FALSE(r.Replace(Find(module, "n"), Find(module, "y")));
  EXPECT_FALSE(r.Replace(Find(module, "p"), Find(module, "x")));
  EXPECT_FALSE(r.Replace(Find(module, "q"), Find(module, "p")));
  EXPECT_TRUE(r.ok());
  EXPECT_FALSE(r.changed());
}

// An inner operation that would be absorbed.
TEST(Rewriter, RefusesToLoseAnAnnotatedOperand) {
  for (const char* attribute :
       {"sharding={replicated}", R"(frontend_attributes={a="b"})"}) {
    Module module = EntryModule(absl::StrCat(R"(
  x = f32[4] parameter(0)
  n = f32[4] negate(x), )",
                                             attribute, R"(
  ROOT m = f32[4] negate(n))"));
    Rewriter r(module, module.entry(), kOptions);
    EXPECT_FALSE(r.Replace(Find(module, "m"), Find(module, "x")));
    EXPECT_FALSE(r.changed());
    // Another of the kind without the annotation is no place for it.
    EXPECT_FALSE(r.Replace(Find(module, "m"),
                           MakeUnary(r, Opcode::kNegate, Find(module, "x"))));
    // The annotated instruction stays if the replacement uses it.
    EXPECT_TRUE(r.Replace(Find(module, "m"),
                          MakeUnary(r, Opcode::kAbs, Find(module, "n"))));
    HONE_EXPECT_OK(r.status());
  }
}

// Whatever would die with what is replaced.
TEST(Rewriter, RefusesToLoseAnAnnotationFurtherDown) {
  Module module = EntryModule(R"(
  x = f32[4] parameter(0)
  n = f32[4] negate(x), sharding={replicated}
  m = f32[4] multiply(n, n)
  t = (f32[4], f32[4]) tuple(m, x)
  e = f32[4] get-tuple-element(t), index=0
  ROOT a = f32[4] add(e, m))");
  Rewriter r(module, module.entry(), kOptions);
  EXPECT_FALSE(r.Replace(Find(module, "a"), Find(module, "x")));
  EXPECT_FALSE(r.changed());
  // m, which uses n, has another user.
  EXPECT_TRUE(r.Replace(Find(module, "e"), Find(module, "m")));
  EXPECT_FALSE(r.Replace(Find(module, "a"), Find(module, "x")));
  HONE_EXPECT_OK(r.status());
}

TEST(Rewriter, RefusesToLoseAnUnknownAttribute) {
  Module module = EntryModule(R"(
  x = f32[4] parameter(0)
  n = f32[4] negate(x), foo={1}
  ROOT m = f32[4] negate(n))");
  Rewriter r(module, module.entry(), kOptions);
  EXPECT_FALSE(r.Replace(Find(module, "n"), Find(module, "x")));
  HONE_EXPECT_OK(r.status());
  EXPECT_FALSE(r.changed());
}

TEST(Rewriter, NamesThePlaceOfEveryRequest) {
  constexpr InstructionId kNone = 99;
  const std::function<void(Rewriter&)> requests[] = {
      [](Rewriter& r) { r.SetAttributes(kNone, nullptr); },
      [](Rewriter& r) { r.SetCalled(kNone, {}); },
      [](Rewriter& r) { r.SetIndex(kNone, 0); },
      [](Rewriter& r) { r.SetRoot(kNone); },
      [](Rewriter& r) { r.SetShape(kNone, nullptr, nullptr); },
      [](Rewriter& r) { r.AddControlPredecessor(kNone, kNone); },
      [](Rewriter& r) { r.BypassControlDependencies(kNone); },
  };
  for (const auto& request : requests) {
    Module module = EntryModule("ROOT x = f32[4] parameter(0)");
    Rewriter outside(module, module.entry(), kOptions);
    {
      Rewriter r(module, module.entry(), kOptions);
      request(r);
      outside.Include(r);
    }
    // And not that of the rewriter itself.
    EXPECT_THAT(std::string(outside.status().message()),
                StartsWith("rewriter_test.cc:"));
  }
}

TEST(Rewriter, BypassesControlDependencies) {
  Module module = EntryModule(R"(
  x = f32[4] parameter(0)
  a = f32[4] negate(x)
  b = f32[4] abs(x), control-predecessors={a}
  c = f32[4] sine(x), control-predecessors={b}
  ROOT t = (f32[4], f32[4], f32[4]) tuple(a, b, c))");
  Rewriter r(module, module.entry(), kOptions);
  r.BypassControlDependencies(Find(module, "b"));
  const Computation& c = module.entry_computation();
  EXPECT_FALSE(c.HasControlDependency(Find(module, "b")));
  EXPECT_THAT(c.control_predecessors(Find(module, "c")),
              ::testing::ElementsAre(Find(module, "a")));
}

}  // namespace
}  // namespace hone::hlo
