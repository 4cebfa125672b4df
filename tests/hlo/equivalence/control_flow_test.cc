#include "hlo/equivalence/control_flow.h"

#include <string>

#include "gtest/gtest.h"

#include "hlo/equivalence/equivalence.h"
#include "hlo/equivalence/merged_module.h"
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
  const MergedModule merged(module, module);
  const ControlFlow control_flow(merged.module());
  Coverage coverage;
  const size_t inputs =
      FindWays(merged.module(), control_flow,
               RandomArguments(module, 1).value(), {}, 1, coverage)
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

// `trips` is the name of the count, which `count` defines: n or something
// later.
Module Loop(const std::string& count, const std::string& trips = "n") {
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
  t = (s32[], f32[8], s32[]) tuple(z, x, )" +
               trips + R"()
  w = (s32[], f32[8], s32[]) while(t), condition=cond, body=body
  ROOT r = f32[8] get-tuple-element(w), index=1
})");
}

TEST(FindWays, RunsLoopsNeverOnceAndOften) {
  EXPECT_EQ(Reach(Loop("parameter(1)")).ways, "4 of 4 trip counts");
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
            ", 1 for control flow (2 of 2 predicate values, 3 of 3 boundary "
            "cases, values of 1 scalar)");
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
            ", 1 for control flow (2 of 2 predicate values, 3 of 3 boundary "
            "cases, values of 1 scalar)");
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

// What depends on scalar parameters alone; `lines` make r of step, rate and x.
Module Schedule(const std::string& lines) {
  return Parse(R"(HloModule m
ENTRY e {
  step = s32[] parameter(0)
  rate = f32[] parameter(1)
  x = f32[16] parameter(2)
  zero = s32[] constant(0)
  ten = s32[] constant(10)
  thousand = s32[] constant(1000)
  half = f32[] constant(0.5)
  y = f32[16] cosine(x)
)" + lines + R"(
})");
}

// Scales x by what `lines` make of step: k.
Module ScaledBy(const std::string& lines) {
  return Schedule(lines + R"(
  f = f32[] convert(k)
  fs = f32[16] broadcast(f), dimensions={}
  ROOT r = f32[16] multiply(x, fs))");
}

TEST(FindWays, ComparesOnLargeNegativeAndExtremeScalars) {
  const Module same = ScaledBy("  k = s32[] copy(step)");
  const auto differs = [&](const std::string& lines) {
    return !Compare(ScaledBy(lines), same).equal &&
           !Compare(same, ScaledBy(lines)).equal;
  };
  EXPECT_TRUE(differs("  k = s32[] minimum(step, thousand)"));
  EXPECT_TRUE(differs("  k = s32[] maximum(step, zero)"));
  EXPECT_TRUE(differs("  k = s32[] abs(step)"));
  EXPECT_TRUE(differs("  k = s32[] remainder(step, thousand)"));
  EXPECT_TRUE(differs(R"(  large = s32[] constant(100000)
  product = s32[] multiply(step, large)
  k = s32[] divide(product, large))"));
  EXPECT_FALSE(Compare(ScaledBy("  k = s32[] divide(step, ten)"),
                       ScaledBy("  k = s32[] copy(zero)"))
                   .equal);
  EXPECT_FALSE(Compare(ScaledBy("  k = s32[] clamp(zero, step, thousand)"),
                       ScaledBy("  k = s32[] maximum(step, zero)"))
                   .equal);
}

TEST(FindWays, ComparesOnIntegersBeyond32Bits) {
  const auto module = [](const std::string& type, const std::string& lines) {
    return Parse("HloModule m\nENTRY e {\n  x = f32[16] parameter(0)\n  n = " +
                 type + "[] parameter(1)\n" + lines +
                 "  fs = f32[16] broadcast(f), dimensions={}\n"
                 "  ROOT r = f32[16] multiply(x, fs)\n}");
  };
  for (const std::string type : {"s64", "u64"}) {
    const std::string narrow = type == "s64" ? "s32" : "u32";
    EXPECT_FALSE(
        Compare(module(type, "  f = f32[] convert(n)\n"),
                module(type, "  k = " + narrow +
                                 "[] convert(n)\n  f = f32[] convert(k)\n"))
            .equal);
  }
}

TEST(FindWays, AcceptsOtherFormsOfScalarArithmetic) {
  const EquivalenceReport report =
      Compare(ScaledBy("  k = s32[] clamp(zero, step, thousand)"), ScaledBy(R"(
  most = s32[] minimum(step, thousand)
  k = s32[] maximum(most, zero))"));
  EXPECT_TRUE(report.equal) << report.explanation;
  EXPECT_NE(
      report.control_flow.find("12 of 12 boundary cases, values of 1 scalar"),
      std::string::npos)
      << report.control_flow;
  EXPECT_TRUE(Compare(ScaledBy("  k = s32[] abs(step)"), ScaledBy(R"(
  minus = s32[] negate(step)
  k = s32[] maximum(step, minus))"))
                  .equal);
}

// Selects by a comparison of a scalar.
Module SelectBy(const std::string& comparison) {
  return Schedule("  p = pred[] compare(" + comparison + R"(
  q = pred[16] broadcast(p), dimensions={}
  ROOT r = f32[16] select(q, x, y))");
}

TEST(FindWays, ReachesEqualityWithThresholds) {
  for (const std::string threshold : {"ten", "zero", "thousand"}) {
    const Module ge = SelectBy("step, " + threshold + "), direction=GE");
    EXPECT_FALSE(
        Compare(ge, SelectBy("step, " + threshold + "), direction=GT")).equal)
        << threshold;
    EXPECT_TRUE(
        Compare(ge, SelectBy(threshold + ", step), direction=LE")).equal)
        << threshold;
  }
  EXPECT_FALSE(Compare(SelectBy("rate, half), direction=GE"),
                       SelectBy("rate, half), direction=GT"))
                   .equal);
}

TEST(FindWays, ReachesEqualityOfRepeatedScalars) {
  const auto select = [](const std::string& direction) {
    return Schedule(R"(
  steps = s32[16] broadcast(step), dimensions={}
  bounds = s32[16] broadcast(thousand), dimensions={}
  q = pred[16] compare(steps, bounds), direction=)" +
                    direction + R"(
  ROOT r = f32[16] select(q, x, y))");
  };
  EXPECT_FALSE(Compare(select("GE"), select("GT")).equal);
}

TEST(FindWays, TakesIndicesOutOfTheirRanges) {
  const auto slice = [](const std::string& index) {
    return Schedule(index + R"(
  ROOT r = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4})");
  };
  const Module original = slice("  i = s32[] copy(step)");
  EXPECT_FALSE(
      Compare(original, slice("  i = s32[] minimum(step, ten)")).equal);
  EXPECT_FALSE(Compare(original, slice(R"(
  n = s32[] constant(16)
  i = s32[] remainder(step, n))"))
                   .equal);
  EXPECT_TRUE(Compare(original, slice(R"(
  last = s32[] constant(12)
  i = s32[] clamp(zero, step, last))"))
                  .equal);
}

TEST(FindWays, TakesBranchesByIndicesOutOfRange) {
  const auto choose = [](const std::string& index) {
    return Parse(R"(HloModule m
f {
  ROOT x = f32[8] parameter(0)
}
g {
  x = f32[8] parameter(0)
  ROOT r = f32[8] sine(x)
}
h {
  x = f32[8] parameter(0)
  ROOT r = f32[8] negate(x)
}
ENTRY e {
  step = s32[] parameter(0)
  x = f32[8] parameter(1)
  zero = s32[] constant(0)
  last = s32[] constant(2)
  )" + index + R"(
  ROOT r = f32[8] conditional(i, x, x, x), branch_computations={f, g, h}
})");
  };
  const Module original = choose("i = s32[] copy(step)");
  EXPECT_FALSE(
      Compare(original, choose("i = s32[] maximum(step, zero)")).equal);
  EXPECT_TRUE(Compare(original, choose("i = s32[] minimum(step, last)")).equal);
}

// Two conditionals by the same computations, behind rare values.
TEST(FindWays, TellsSitesThatCallTheSameApart) {
  const auto two = [](const std::string& second) {
    return Parse(R"(HloModule m
f {
  x = f32[8] parameter(0)
  ROOT r = f32[8] cosine(x)
}
g {
  x = f32[8] parameter(0)
  ROOT r = f32[8] sine(x)
}
ENTRY e {
  step = s32[] parameter(0)
  epoch = s32[] parameter(1)
  x = f32[8] parameter(2)
  k = s32[] constant(12345)
  l = s32[] constant(54321)
  p = pred[] compare(step, k), direction=EQ
  q = pred[] compare(epoch, l), direction=EQ
  y = f32[8] conditional(p, x, x), true_computation=f, false_computation=g
  z = f32[8] )" + second +
                 R"(
  ROOT r = (f32[8], f32[8]) tuple(y, z)
})");
  };
  const std::string conditional =
      "conditional(q, x, x), true_computation=f, false_computation=g";
  EXPECT_FALSE(Compare(two(conditional), two("sine(x)")).equal);
  EXPECT_EQ(Reach(two(conditional)).ways, "4 of 4 branches");
}

// The count of a loop's trips cut off; `x` is what the loop has.
TEST(FindWays, RunsLoopsOftenerThanSmallBounds) {
  EXPECT_FALSE(Compare(Loop("parameter(1)"), Loop(R"(parameter(1)
  bound = s32[] constant(8)
  n.1 = s32[] minimum(n, bound))",
                                                  "n.1"))
                   .equal);
  EXPECT_TRUE(Compare(Loop("parameter(1)"), Loop(R"(parameter(1)
  none = s32[] constant(0)
  n.1 = s32[] maximum(n, none))",
                                                 "n.1"))
                  .equal);
}

// In large modules, what scalars become is compared before the whole is.
TEST(FindWays, ComparesFewTimesWhereModulesAreLarge) {
  const auto scaled = [](const std::string& lines) {
    return Parse(R"(HloModule m
ENTRY e {
  step = s32[] parameter(0)
  x = f32[1000000] parameter(1)
  period = s32[] constant(777)
  )" + lines + R"(
  f = f32[] convert(k)
  fs = f32[1000000] broadcast(f), dimensions={}
  y = f32[1000000] multiply(x, fs)
  z = f32[1000000] add(y, x)
  w = f32[1000000] add(z, y)
  ROOT r = f32[1000000] add(w, x)
})");
  };
  const Module original = scaled("k = s32[] remainder(step, period)");
  const EquivalenceReport right = Compare(original, scaled(R"(
  quotient = s32[] divide(step, period)
  product = s32[] multiply(quotient, period)
  k = s32[] subtract(step, product))"));
  EXPECT_TRUE(right.equal);
  EXPECT_EQ(right.control_flow, ", 2 for control flow (values of 1 scalar)");
  const EquivalenceReport wrong = Compare(original, scaled(R"(
  rest = s32[] remainder(step, period)
  last = s32[] constant(775)
  k = s32[] minimum(rest, last))"));
  EXPECT_FALSE(wrong.equal);
}

TEST(FindWays, FindsDifferencesInRareBranches) {
  HONE_ASSERT_OK_AND_ASSIGN(const EquivalenceReport report,
                            CheckEquivalent(WarmUp("ROOT r = f32[8] negate(x)"),
                                            WarmUp("ROOT r = f32[8] abs(x)")));
  EXPECT_FALSE(report.equal);
}

}  // namespace
}  // namespace hone::hlo
