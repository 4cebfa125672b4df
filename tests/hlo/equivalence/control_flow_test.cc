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
            "2 of 2 branches, 4 of 4 predicate values");
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

// A step whose result is scaled; `lines` make r of x, step and scaled.
Module Scaled(const std::string& lines) {
  return Parse(R"(HloModule m
twice {
  a = f32[8] parameter(0)
  s = s32[] parameter(1)
  rare = s32[] constant(7654321)
  is_rare = pred[] compare(s, rare), direction=EQ
  none = f32[] constant(nan)
  nones = f32[8] broadcast(none), dimensions={}
  where = pred[8] broadcast(is_rare), dimensions={}
  sum = f32[8] add(a, a)
  ROOT r = f32[8] select(where, nones, sum)
}
late {
  x = f32[8] parameter(0)
  ROOT r = f32[8] negate(x)
}
early {
  ROOT x = f32[8] parameter(0)
}
ENTRY e {
  x = f32[8] parameter(0)
  step = s32[] parameter(1)
  scaled = f32[8] add(x, x)
)" + lines + R"(
})");
}

EquivalenceReport Compare(const Module& a, const Module& b) {
  const absl::StatusOr<EquivalenceReport> report = CheckEquivalent(a, b);
  HONE_EXPECT_OK(report);
  return report.ok() ? *report : EquivalenceReport();
}

// What a wrong rewrite may add and the original lacks.
TEST(FindWays, CountsTheControlFlowOfBothModules) {
  const Module original = Scaled("  ROOT r = f32[8] copy(scaled)");
  const EquivalenceReport selects = Compare(original, Scaled(R"(
  rare = s32[] constant(1234567)
  is_rare = pred[] compare(step, rare), direction=EQ
  none = f32[] constant(nan)
  nones = f32[8] broadcast(none), dimensions={}
  where = pred[8] broadcast(is_rare), dimensions={}
  ROOT r = f32[8] select(where, nones, scaled))"));
  EXPECT_FALSE(selects.equal);
  EXPECT_EQ(selects.control_flow,
            ", 1 for control flow (2 of 2 predicate values)");
  EXPECT_FALSE(Compare(original, Scaled(R"(
  rare = s32[] constant(4321)
  is_late = pred[] compare(step, rare), direction=GT
  ROOT r = f32[8] conditional(is_late, scaled, scaled), true_computation=late, false_computation=early)"))
                   .equal);
  // The comparison repeated for each element, and behind a remainder.
  EXPECT_FALSE(Compare(original, Scaled(R"(
  period = s32[] constant(777)
  rest = s32[] remainder(step, period)
  rests = s32[8] broadcast(rest), dimensions={}
  last = s32[] constant(776)
  lasts = s32[8] broadcast(last), dimensions={}
  where = pred[8] compare(rests, lasts), direction=EQ
  ROOT r = f32[8] select(where, x, scaled))"))
                   .equal);
}

TEST(FindWays, FindsPredicatesOfCallees) {
  const EquivalenceReport report =
      Compare(Scaled("  ROOT r = f32[8] copy(scaled)"),
              Scaled("  ROOT r = f32[8] call(x, step), to_apply=twice"));
  EXPECT_FALSE(report.equal);
  EXPECT_EQ(report.control_flow,
            ", 1 for control flow (2 of 2 predicate values)");
}

// The predicate depends on elements of an array: no scalar decides it.
TEST(FindWays, LeavesOutWhatNoScalarParameterDecides) {
  const Reached reached = Reach(Parse(R"(HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  step = s32[] parameter(1)
  first = f32[1] slice(x), slice={[0:1]}
  scalar = f32[] reshape(first)
  zero = f32[] constant(0)
  p = pred[] compare(scalar, zero), direction=EQ
  q = pred[8] broadcast(p), dimensions={}
  y = f32[8] negate(x)
  r = f32[8] select(q, x, y)
  ROOT t = (f32[8], s32[]) tuple(r, step)
})"));
  EXPECT_EQ(reached.ways, "");
  EXPECT_EQ(reached.inputs, 0u);
}

TEST(FindWays, FindsDifferencesInRareBranches) {
  HONE_ASSERT_OK_AND_ASSIGN(const EquivalenceReport report,
                            CheckEquivalent(WarmUp("ROOT r = f32[8] negate(x)"),
                                            WarmUp("ROOT r = f32[8] abs(x)")));
  EXPECT_FALSE(report.equal);
}

}  // namespace
}  // namespace hone::hlo
