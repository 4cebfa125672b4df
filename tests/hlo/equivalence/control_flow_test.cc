#include "hlo/equivalence/control_flow.h"

#include <string>

#include "gtest/gtest.h"

#include "hlo/equivalence/equivalence.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

Module Parse(const std::string& text) {
  absl::StatusOr<Module> module = ParseHloText(text);
  HONE_EXPECT_OK(module);
  if (!module.ok()) return Module();
  HONE_EXPECT_OK(VerifyModule(*module));
  return *std::move(module);
}

// What is reached by inputs for control flow, and how many they are.
struct Reached {
  std::string ways;
  size_t inputs = 0;
};
Reached Reach(const Module& module) {
  const ControlFlow control_flow(module);
  Coverage coverage;
  const size_t inputs =
      FindWays(module, control_flow, RandomArguments(module, 1).value(), {}, 1,
               coverage)
          .size();
  return {control_flow.Describe(coverage), inputs};
}

// A step of training with a warm-up: `late` is what happens behind it.
Module WarmUp(const std::string& late) {
  return Parse(R"(HloModule m
late {
  x = f32[8] parameter(0)
  )" + late + R"(
}
early {
  ROOT x = f32[8] parameter(0)
}
ENTRY e {
  x = f32[8] parameter(0)
  step = s32[] parameter(1)
  n = s32[] constant(1000)
  p = pred[] compare(step, n), direction=GE
  ROOT c = f32[8] conditional(p, x, x), true_computation=late, false_computation=early
})");
}

TEST(FindWays, ReachesBranchesBehindComparedConstants) {
  const Reached reached = Reach(WarmUp("ROOT r = f32[8] negate(x)"));
  EXPECT_EQ(reached.ways, "2 of 2 branches");
  EXPECT_EQ(reached.inputs, 2u);
}

TEST(FindWays, ReachesCombinationsOfParameters) {
  EXPECT_EQ(Reach(Parse(R"(HloModule m
f {
  ROOT x = f32[8] parameter(0)
}
g {
  x = f32[8] parameter(0)
  ROOT r = f32[8] sine(x)
}
ENTRY e {
  x = f32[8] parameter(0)
  step = s32[] parameter(1)
  rate = f32[] parameter(2)
  n = s32[] constant(12345)
  l = f32[] constant(0.375)
  a = pred[] compare(step, n), direction=EQ
  b = pred[] compare(rate, l), direction=EQ
  p = pred[] and(a, b)
  ROOT c = f32[8] conditional(p, x, x), true_computation=f, false_computation=g
})"))
                .ways,
            "2 of 2 branches");
}

Module Loop(const std::string& count) {
  return Parse(R"(HloModule m
cond {
  t = (s32[], f32[8], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] get-tuple-element(t), index=2
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], f32[8], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[8] get-tuple-element(t), index=1
  n = s32[] get-tuple-element(t), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[8] sine(x)
  ROOT r = (s32[], f32[8], s32[]) tuple(j, y, n)
}
ENTRY e {
  x = f32[8] parameter(0)
  z = s32[] constant(0)
  n = s32[] )" +
               count + R"(
  t = (s32[], f32[8], s32[]) tuple(z, x, n)
  w = (s32[], f32[8], s32[]) while(t), condition=cond, body=body
  ROOT r = f32[8] get-tuple-element(w), index=1
})");
}

TEST(FindWays, RunsLoopsNeverOnceAndOften) {
  EXPECT_EQ(Reach(Loop("parameter(1)")).ways, "3 of 3 trip counts");
}

TEST(FindWays, RunsLoopsThatCountByConstantsOnce) {
  // Nothing to choose.
  EXPECT_EQ(Reach(Loop("constant(5)")).inputs, 0u);
  EquivalenceOptions options;
  HONE_ASSERT_OK_AND_ASSIGN(
      const EquivalenceReport report,
      CheckEquivalent(Loop("constant(5)"), Loop("constant(5)"), options));
  EXPECT_EQ(report.control_flow, ", 0 for control flow (1 of 1 trip counts)");
}

TEST(FindWays, FindsDifferencesInRareBranches) {
  HONE_ASSERT_OK_AND_ASSIGN(const EquivalenceReport report,
                            CheckEquivalent(WarmUp("ROOT r = f32[8] negate(x)"),
                                            WarmUp("ROOT r = f32[8] abs(x)")));
  EXPECT_FALSE(report.equal);
}

}  // namespace
}  // namespace hone::hlo
