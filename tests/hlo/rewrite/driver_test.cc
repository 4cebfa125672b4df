#include "hlo/rewrite/driver.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/inference/verifier.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/matchers.h"
#include "tests/hlo/rewrite/entry_module.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// negate(negate(x)) → x
bool DropNegations(Rewriter& r, InstructionId id) {
  InstructionId x;
  return r.Match(id, m::Negate(m::Negate(m::Op(&x)))) && r.Replace(id, x);
}

constexpr char kFourNegations[] = R"(
  x = f32[4] parameter(0)
  a = f32[4] negate(x)
  b = f32[4] negate(a)
  c = f32[4] negate(b)
  ROOT d = f32[4] negate(c))";

TEST(RewriteModule, GoesToAFixedPoint) {
  Module module = EntryModule(kFourNegations);
  HONE_ASSERT_OK_AND_ASSIGN(
      const bool changed,
      RewriteModule(module, {.name = "t", .visit = Visit::kFixedPoint}, {},
                    DropNegations));
  EXPECT_TRUE(changed);
  EXPECT_EQ(module.entry_computation().live_count(), 1);
}

// A fusion says how its computation is emitted.
TEST(RewriteModule, LeavesOwnedComputationsAlone) {
  Module module = EntryModule(R"(
  x = f32[4] parameter(0)
  f = f32[4] fusion(x), kind=kLoop, calls=fused
  ROOT c = f32[4] call(f), to_apply=called)",
                              R"(
fused {
  x = f32[4] parameter(0)
  a = f32[4] negate(x)
  ROOT b = f32[4] negate(a)
}
called {
  x = f32[4] parameter(0)
  a = f32[4] negate(x)
  ROOT b = f32[4] negate(a)
}
)");
  const Module before = module;
  EXPECT_TRUE(*RewriteModule(module, {.name = "t"}, {}, DropNegations));
  for (const Computation& computation : before.computations()) {
    EXPECT_EQ(Module::SharesComputation(module, before, computation.id()),
              computation.name() != "called")
        << computation.name();
  }
}

TEST(RewriteModule, ShowsTheOpcodesOfTheRuleOnce) {
  Module module = EntryModule(R"(
  x = f32[4] parameter(0)
  a = f32[4] negate(x)
  ROOT b = f32[4] abs(a))");
  std::vector<std::string> seen;
  HONE_ASSERT_OK_AND_ASSIGN(
      const bool changed,
      RewriteModule(module, {.name = "t", .opcodes = {Opcode::kNegate}}, {},
                    [&](Rewriter& r, InstructionId id) {
                      seen.push_back(r[id].name());
                      const InstructionId again =
                          MakeUnary(r, Opcode::kNegate, r.operand(id, 0));
                      return r.Replace(id, again);
                    }));
  EXPECT_TRUE(changed);
  EXPECT_THAT(seen, ElementsAre("a"));
}

TEST(RewriteModule, RemovesWhatWasMadeForNothing) {
  Module module = EntryModule(kFourNegations);
  const Module before = module;
  HONE_ASSERT_OK_AND_ASSIGN(const bool changed,
                            RewriteModule(module, {.name = "t"}, {},
                                          [](Rewriter& r, InstructionId id) {
                                            MakeUnary(r, Opcode::kAbs, id);
                                            return false;
                                          }));
  EXPECT_FALSE(changed);
  EXPECT_TRUE(Module::SharesComputation(module, before, module.entry()));
}

TEST(RewriteModule, LeavesOutWhatNumericsDoNotPermit) {
  Module module = EntryModule(kFourNegations);
  const RewriteRule rule = {.name = "t",
                            .numeric_class = NumericClass::kChangesRange};
  EXPECT_FALSE(*RewriteModule(module, rule, {}, DropNegations));
  RewriteOptions fast;
  fast.numerics = Numerics::kFast;
  EXPECT_TRUE(*RewriteModule(module, rule, fast, DropNegations));
}

TEST(RewriteModule, ReportsARewriteThatDoesNotFit) {
  Module module = EntryModule(kFourNegations);
  const auto changed = RewriteModule(
      module, {.name = "broken"}, {}, [](Rewriter& r, InstructionId id) {
        return r.Replace(id, MakeReshape(r, id, {2, 2}));
      });
  EXPECT_EQ(changed.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(changed.status().message(), HasSubstr("broken: driver_test.cc:"));
}

TEST(RewriteModule, VerifiesAndTracesEachRewriteIfAsked) {
  Module module = EntryModule(kFourNegations);
  std::vector<std::string> trace;
  RewriteOptions options;
  options.verify_rewrites = true;
  options.trace = [&](const RewriteEvent& event) {
    trace.push_back(event.instruction);
  };
  EXPECT_TRUE(*RewriteModule(module, {.name = "t"}, options, DropNegations));
  EXPECT_THAT(trace, ElementsAre("b = f32[4] negate", "d = f32[4] negate"));
  const auto broken =
      RewriteModule(module, {.name = "breaks", .checks_itself = true}, options,
                    [](Rewriter& r, InstructionId id) {
                      r.SetShape(id, Shape::Scalar(ElementType::kF32),
                                 r[id].attributes_ptr());
                      return true;
                    });
  EXPECT_THAT(broken.status().message(),
              HasSubstr("breaks leaves a module that does not verify"));
}

TEST(RewriteComputations, CallsOnlyWhereAnOpcodeOfTheRuleIs) {
  Module module = EntryModule(kFourNegations);
  int calls = 0;
  const auto count = [&](Rewriter&) { ++calls; };
  EXPECT_FALSE(*RewriteComputations(
      module, {.name = "t", .opcodes = {Opcode::kAbs}}, {}, count));
  EXPECT_EQ(calls, 0);
  EXPECT_FALSE(*RewriteComputations(
      module, {.name = "t", .opcodes = {Opcode::kNegate}}, {}, count));
  EXPECT_EQ(calls, 1);
}

TEST(RewriteModule, LeavesScheduledModulesAlone) {
  Module module = EntryModule(kFourNegations);
  module.set_is_scheduled(true);
  EXPECT_FALSE(*RewriteModule(module, {.name = "t"}, {}, DropNegations));
}

}  // namespace
}  // namespace hone::hlo
