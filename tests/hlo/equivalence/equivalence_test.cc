#include "hlo/equivalence/equivalence.h"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/read_module.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Module Parse(const std::string& text) {
  absl::StatusOr<Module> module = ParseHloText(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// A function of f32[64] p, f32[64] q.
Module Function(const std::string& body) {
  return Parse(
      "HloModule m\nENTRY e {\n  p = f32[64] parameter(0)\n"
      "  q = f32[64] parameter(1)\n" +
      body + "\n}");
}

Literal Vector(ElementType type, std::vector<double> values) {
  Literal literal(Shape::Array(type, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) {
    literal.SetDouble(static_cast<int64_t>(i), values[i]);
  }
  return literal;
}

TEST(MakeArguments, AreDeterministicInTheSeed) {
  const Module module = Function("ROOT r = f32[64] add(p, q)");
  for (ArgumentKind kind :
       {ArgumentKind::kRandom, ArgumentKind::kAdversarial}) {
    const std::vector<Literal> a = MakeArguments(module, kind, 7).value();
    const std::vector<Literal> b = MakeArguments(module, kind, 7).value();
    const std::vector<Literal> c = MakeArguments(module, kind, 8).value();
    ASSERT_EQ(a.size(), 2u);
    EXPECT_TRUE(a[0] == b[0] && a[1] == b[1]);
    EXPECT_FALSE(a[0] == c[0]);
  }
}

TEST(MakeArguments, AreSmallAndFinite) {
  const Module module = Parse(R"(HloModule m
ENTRY e {
  p = f32[10000] parameter(0)
  i = s32[1000] parameter(1)
  b = pred[1000] parameter(2)
  ROOT t = (f32[10000], s32[1000], pred[1000]) tuple(p, i, b)
})");
  const std::vector<Literal> arguments = RandomArguments(module, 1).value();
  double sum = 0;
  double squares = 0;
  for (float x : arguments[0].values<float>()) {
    sum += static_cast<double>(x);
    squares += static_cast<double>(x) * static_cast<double>(x);
  }
  EXPECT_NEAR(sum / 10000, 0, 0.005);
  EXPECT_NEAR(std::sqrt(squares / 10000), 0.1, 0.005);
  int64_t set = 0;
  int64_t small = 0;
  for (int64_t k = 0; k < 1000; ++k) {
    EXPECT_GE(arguments[1].AsInt(k), 0);
    // As what is indexed may have, half of them less than 8.
    EXPECT_LT(arguments[1].AsInt(k), 1024);
    small += arguments[1].AsInt(k) < 8;
    set += arguments[2].AsInt(k);
  }
  EXPECT_GT(small, 400);
  EXPECT_GT(set, 400);
  EXPECT_LT(set, 600);
}

TEST(MakeArguments, RefusesTokens) {
  const Module module = Parse(R"(
HloModule m
ENTRY e {
  t = (f32[2], token[]) parameter(0)
  ROOT x = f32[2] get-tuple-element(t), index=0
})");
  EXPECT_THAT(RandomArguments(module, 1),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("t: no argument of shape (f32[2], token[])")));
}

TEST(MakeArguments, AdversarialOnesHoldSpecialValues) {
  const Module module = Parse(R"(HloModule m
ENTRY e {
  p = f32[64] parameter(0)
  i = s32[64] parameter(1)
  n = s32[] parameter(2)
  ROOT t = (f32[64], s32[64], s32[]) tuple(p, i, n)
})");
  int64_t non_finite = 0;
  int64_t large = 0;
  int64_t out_of_range = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const std::vector<Literal> arguments =
        MakeArguments(module, ArgumentKind::kAdversarial, seed).value();
    for (float x : arguments[0].values<float>()) {
      non_finite += std::isfinite(x) ? 0 : 1;
      large += std::fabs(x) >= 100 ? 1 : 0;
    }
    for (int32_t x : arguments[1].values<int32_t>()) {
      out_of_range += x < 0 || x > 8 ? 1 : 0;
    }
    EXPECT_GE(arguments[2].AsInt(0), 0);
    EXPECT_LT(arguments[2].AsInt(0), 8);
  }
  EXPECT_GT(non_finite, 0);
  EXPECT_GT(large, non_finite / 2);
  EXPECT_GT(out_of_range, 0);
}

TEST(MakeArguments, AdversarialOnesHaveLinesWithoutVarianceAndTies) {
  const Module module = Parse(R"(HloModule m
ENTRY e {
  ROOT p = f32[5,6,8] parameter(0)
})");
  int with_ties = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Literal argument =
        MakeArguments(module, ArgumentKind::kAdversarial, seed).value()[0];
    const absl::Span<const float> x = argument.values<float>();
    int zero_lines = 0;
    int ties = 0;
    for (size_t i = 0; i < x.size(); i += 8) {
      const absl::Span<const float> line = x.subspan(i, 8);
      const float largest = *absl::c_max_element(line);
      if (absl::c_count(line, 0) == 8) {
        ++zero_lines;
      } else if (absl::c_count(line, largest) > 1) {
        ++ties;
      }
    }
    EXPECT_GE(zero_lines, 1) << seed;
    EXPECT_LE(absl::c_count(x, 0), 100) << seed;
    with_ties += ties > 0 ? 1 : 0;
  }
  // The line may be one that is zero.
  EXPECT_GE(with_ties, 15);
}

// A normalization that divides by the variance alone is wrong where that is
// zero.
TEST(CheckEquivalent, SeesWhatHappensWithoutVariance) {
  const auto text = [](absl::string_view epsilon) {
    return absl::StrReplaceAll(R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[8,16] parameter(0)
  zero = f32[] constant(0)
  s = f32[8] reduce(x, zero), dimensions={1}, to_apply=add
  n = f32[] constant(16)
  ns = f32[8] broadcast(n), dimensions={}
  m = f32[8] divide(s, ns)
  ms = f32[8,16] broadcast(m), dimensions={0}
  d = f32[8,16] subtract(x, ms)
  q = f32[8,16] multiply(d, d)
  v = f32[8] reduce(q, zero), dimensions={1}, to_apply=add
  small = f32[] constant(EPSILON)
  smalls = f32[8] broadcast(small), dimensions={}
  w = f32[8] add(v, smalls)
  r = f32[8] rsqrt(w)
  rs = f32[8,16] broadcast(r), dimensions={0}
  ROOT y = f32[8,16] multiply(d, rs)
})",
                               {{"EPSILON", epsilon}});
  };
  EquivalenceOptions options;
  options.random_inputs = 0;
  options.mixed_inputs = 0;
  HONE_ASSERT_OK_AND_ASSIGN(
      const EquivalenceReport report,
      CheckEquivalent(Parse(text("1e-12")), Parse(text("0")), options));
  EXPECT_FALSE(report.equal);
}

TEST(CompareLiterals, ToleratesRoundingByType) {
  const auto equal = [](ElementType type, double error) {
    return CompareLiterals(Vector(type, {1, 2}), Vector(type, {1, 2 + error}))
        .equal;
  };
  EXPECT_TRUE(equal(ElementType::kF32, 1e-5));
  EXPECT_FALSE(equal(ElementType::kF32, 1e-3));
  EXPECT_FALSE(equal(ElementType::kF64, 1e-5));
  EXPECT_TRUE(equal(ElementType::kBf16, 1e-2));
  EXPECT_FALSE(equal(ElementType::kBf16, 0.1));
  EXPECT_FALSE(equal(ElementType::kS32, 1));
}

TEST(CompareLiterals, MeasuresSmallElementsAgainstTheWhole) {
  // 1e-6 against 2e-6 is noise beside ones, and wrong on its own.
  EXPECT_TRUE(CompareLiterals(Vector(ElementType::kF32, {1, 1e-6}),
                              Vector(ElementType::kF32, {1, 2e-6}))
                  .equal);
  EXPECT_FALSE(CompareLiterals(Vector(ElementType::kF32, {1e-6}),
                               Vector(ElementType::kF32, {2e-6}))
                   .equal);
}

TEST(CompareLiterals, FlushesDenormalsOfTheType) {
  const auto equal = [](ElementType type, double a, double b) {
    return CompareLiterals(Literal::Scalar(type, a), Literal::Scalar(type, b))
        .equal;
  };
  EXPECT_TRUE(equal(ElementType::kF32, 0, 1e-39));
  EXPECT_TRUE(equal(ElementType::kBf16, -1e-39, 1e-39));
  EXPECT_TRUE(equal(ElementType::kF64, 0, 1e-310));
  EXPECT_FALSE(equal(ElementType::kF32, 0, 1.2e-38));
  EXPECT_FALSE(equal(ElementType::kF64, 0, 1e-39));
  EXPECT_FALSE(equal(ElementType::kF16, 0, 1e-5));
}

TEST(CompareLiterals, TellsInfinitiesAndNanApart) {
  const Literal a = Vector(ElementType::kF32, {kNan, kInf, -kInf});
  EXPECT_TRUE(CompareLiterals(a, a).equal);
  for (const auto& other : {std::vector<double>{0, kInf, -kInf},
                            {kNan, -kInf, -kInf},
                            {kNan, kInf, kNan}}) {
    const Comparison comparison =
        CompareLiterals(a, Vector(ElementType::kF32, other));
    EXPECT_FALSE(comparison.equal);
    EXPECT_EQ(comparison.max_rel_error, kInf);
  }
}

TEST(CompareLiterals, ExcusesWhatIsNearerToTheTruth) {
  // The reference has lost small terms; the other result has them.
  std::vector<double> rounded(64);
  std::vector<double> precise(64);
  for (size_t i = 0; i < precise.size(); ++i) {
    precise[i] = 0.06 + 0.001 * static_cast<double>(i);
    rounded[i] = i % 2 == 0 ? 0 : 0.125;
  }
  const Literal a = Vector(ElementType::kBf16, rounded);
  const Literal t = Vector(ElementType::kF64, precise);
  const Literal b = Vector(ElementType::kBf16, precise);
  EXPECT_FALSE(CompareLiterals(a, b).equal);
  const Comparison nearer = CompareLiterals(a, b, t);
  EXPECT_TRUE(nearer.equal);
  EXPECT_LT(nearer.max_rel_error, 2e-2);
  // Not any other, nor what is no number.
  for (const double wrong : {-1.0, 1.0, kInf, kNan}) {
    std::vector<double> other = precise;
    other[7] = wrong;
    EXPECT_FALSE(
        CompareLiterals(a, Vector(ElementType::kBf16, other), t).equal);
  }
  // Where the reference has no error, there is nothing to excuse.
  EXPECT_FALSE(CompareLiterals(b, a, Vector(ElementType::kF64, precise)).equal);
}

TEST(CompareLiterals, ExcusesNothingByAnInfinity) {
  const Literal a = Vector(ElementType::kF32, {kInf, 1, 1});
  const Literal t = Vector(ElementType::kF64, {2, 1, 1});
  EXPECT_FALSE(
      CompareLiterals(a, Vector(ElementType::kF32, {3, 1, 1}), t).equal);
}

TEST(CompareLiterals, NamesTheWorstElement) {
  const Literal a =
      Literal::Tuple({Vector(ElementType::kF32, {1}),
                      Literal::Tuple({Vector(ElementType::kF32, {1, 2, 3})})});
  const Literal b =
      Literal::Tuple({Vector(ElementType::kF32, {1.001}),
                      Literal::Tuple({Vector(ElementType::kF32, {1, 4, 3})})});
  const Comparison comparison = CompareLiterals(a, b);
  EXPECT_FALSE(comparison.equal);
  EXPECT_EQ(comparison.worst.output, "1.0");
  EXPECT_EQ(comparison.worst.element, "[1]");
  EXPECT_EQ(comparison.worst.a, 2);
  EXPECT_EQ(comparison.worst.b, 4);
}

TEST(CheckEquivalent, AcceptsRewrites) {
  const absl::StatusOr<EquivalenceReport> report =
      CheckEquivalent(Function("a = f32[64] multiply(p, q)\n"
                               "ROOT r = f32[64] multiply(a, p)"),
                      Function("a = f32[64] multiply(p, p)\n"
                               "ROOT r = f32[64] multiply(q, a)"));
  ASSERT_THAT(report, testing::IsOk());
  EXPECT_TRUE(report->equal) << report->explanation;
  EXPECT_EQ(report->method, "evaluator: 2 random, 1 adversarial inputs");
  // It did round otherwise.
  EXPECT_GT(report->max_rel_error, 0);
  EXPECT_LE(report->max_rel_error, 1e-6);
}

// In f64 only runs with other rounding tell how large rounding errors are: also
// of what is evaluated as one chain, whose end cancels.
TEST(CheckEquivalent, AcceptsOtherRoundingWithinAChainInDoublePrecision) {
  const auto module = [](const std::string& sum) {
    return Parse(
        "HloModule m\nENTRY e {\n  x = f64[4096] parameter(0)\n"
        "  y = f64[4096] parameter(1)\n  z = f64[4096] parameter(2)\n" +
        sum + "  ROOT r = f64[4096] subtract(s, x)\n}");
  };
  const Module left =
      module("  a = f64[4096] add(x, y)\n  s = f64[4096] add(a, z)\n");
  const Module right =
      module("  a = f64[4096] add(y, z)\n  s = f64[4096] add(x, a)\n");
  const Module wrong =
      module("  a = f64[4096] add(y, y)\n  s = f64[4096] add(x, a)\n");
  // A few runs with other rounding leave one seed in twelve without an excuse.
  for (uint64_t seed = 0; seed < 40; ++seed) {
    EquivalenceOptions options;
    options.seed = seed;
    HONE_ASSERT_OK_AND_ASSIGN(const EquivalenceReport same,
                              CheckEquivalent(left, right, options));
    EXPECT_TRUE(same.equal) << same.explanation;
    HONE_ASSERT_OK_AND_ASSIGN(const EquivalenceReport different,
                              CheckEquivalent(left, wrong, options));
    EXPECT_FALSE(different.equal);
  }
}

// The partial sums behind large terms are rounded, however few digits these
// have. In f64 only runs with other rounding tell.
TEST(CheckEquivalent, AcceptsAnotherOrderOfLargeTermsInDoublePrecision) {
  const auto module = [](const std::string& order, const std::string& low) {
    return Parse(R"(HloModule m
add {
  a = f64[] parameter(0)
  b = f64[] parameter(1)
  ROOT s = f64[] add(a, b)
}
ENTRY e {
  x = f64[5,64] parameter(0)
  h = f64[] constant(1e6)
  l = f64[] constant()" +
                 low + R"()
  high = f64[1,64] broadcast(h), dimensions={}
  low = f64[1,64] broadcast(l), dimensions={}
  c = f64[7,64] concatenate()" +
                 order + R"(), dimensions={0}
  z = f64[] constant(0)
  ROOT r = f64[64] reduce(c, z), dimensions={0}, to_apply=add
})");
  };
  const Module around = module("high, x, low", "-1e6");
  const Module behind = module("x, high, low", "-1e6");
  const Module before = module("high, low, x", "-1e6");
  const Module wrong = module("high, x, low", "-1000000.000001");
  for (uint64_t seed = 0; seed < 40; ++seed) {
    EquivalenceOptions options;
    options.seed = seed;
    for (const Module* other : {&behind, &before}) {
      for (const auto& [a, b] :
           {std::pair{&around, other}, std::pair{other, &around}}) {
        HONE_ASSERT_OK_AND_ASSIGN(const EquivalenceReport same,
                                  CheckEquivalent(*a, *b, options));
        EXPECT_TRUE(same.equal) << same.explanation;
      }
    }
    HONE_ASSERT_OK_AND_ASSIGN(const EquivalenceReport different,
                              CheckEquivalent(around, wrong, options));
    EXPECT_FALSE(different.equal);
  }
}

// Rounding within a chain of elementwise instructions is an excuse, in f32 too.
TEST(CheckEquivalent, AcceptsAnotherOrderOfAChain) {
  const auto module = [](const std::string& sum) {
    return Parse(
        "HloModule m\nENTRY e {\n  p = f32[65536] parameter(0)\n"
        "  q = f32[65536] parameter(1)\n  u = f32[65536] parameter(2)\n"
        "  v = f32[65536] parameter(3)\n" +
        sum + "  ROOT r = f32[65536] add(a, b)\n}");
  };
  for (uint64_t seed = 0; seed < 4; ++seed) {
    EquivalenceOptions options;
    options.seed = seed;
    HONE_ASSERT_OK_AND_ASSIGN(
        const EquivalenceReport report,
        CheckEquivalent(module("  c = f32[65536] add(p, q)\n"
                               "  a = f32[65536] add(c, u)\n"
                               "  b = f32[65536] copy(v)\n"),
                        module("  a = f32[65536] add(p, v)\n"
                               "  b = f32[65536] add(q, u)\n"),
                        options));
    EXPECT_TRUE(report.equal) << report.explanation;
  }
}

constexpr char kWideDot[] =
    "  d = f32[64,64] dot(p, q), lhs_contracting_dims={1}, "
    "rhs_contracting_dims={0}\n";
constexpr char kNarrowDot[] =
    "  a = bf16[64,64] convert(p)\n  b = bf16[64,64] convert(q)\n"
    "  c = bf16[64,64] dot(a, b), lhs_contracting_dims={1}, "
    "rhs_contracting_dims={0}\n  d = f32[64,64] convert(c)\n";

// Its own noise is no excuse for a module that computes in a narrower type.
TEST(CheckEquivalent, RefusesNarrowerArithmetic) {
  const auto module = [](const std::string& dot) {
    return Parse(
        "HloModule m\nENTRY e {\n  p = f32[64,64] parameter(0)\n"
        "  q = f32[64,64] parameter(1)\n" +
        dot + "  ROOT r = f32[64,64] tanh(d)\n}");
  };
  const Module wide = module(kWideDot);
  const Module narrow = module(kNarrowDot);
  HONE_ASSERT_OK_AND_ASSIGN(const EquivalenceReport report,
                            CheckEquivalent(wide, narrow));
  EXPECT_FALSE(report.equal);
  // What was narrow may become wide.
  HONE_ASSERT_OK_AND_ASSIGN(const EquivalenceReport wider,
                            CheckEquivalent(narrow, wide));
  EXPECT_TRUE(wider.equal) << wider.explanation;
}

// Nor where the original computes something else in that type.
TEST(CheckEquivalent, RefusesMoreNarrowArithmetic) {
  const auto module = [](const std::string& dot) {
    return Parse(
        "HloModule m\nENTRY e {\n  p = f32[64,64] parameter(0)\n"
        "  q = f32[64,64] parameter(1)\n  y = bf16[64] parameter(2)\n"
        "  z = bf16[64] multiply(y, y)\n" +
        dot + "  ROOT r = (f32[64,64], bf16[64]) tuple(d, z)\n}");
  };
  const Module wide = module(kWideDot);
  const Module narrow = module(kNarrowDot);
  HONE_ASSERT_OK_AND_ASSIGN(const EquivalenceReport report,
                            CheckEquivalent(wide, narrow));
  EXPECT_FALSE(report.equal);
}

// E[x²] − E[x]² far from zero is noise on every ordinary input. That both are 0
// on an input of zeros is no evidence.
TEST(CheckEquivalent, TakesNoEvidenceFromTrivialInputs) {
  const auto module = [](const std::string& variance) {
    return Parse(
        "HloModule m\nadd {\n  x = f32[] parameter(0)\n"
        "  y = f32[] parameter(1)\n  ROOT r = f32[] add(x, y)\n}\n"
        "ENTRY e {\n  p = f32[32,64] parameter(0)\n"
        "  zero = f32[] constant(0)\n  many = f32[] constant(1000)\n"
        "  part = f32[] constant(0.015625)\n"
        "  parts = f32[32] broadcast(part), dimensions={}\n"
        "  shift = f32[32,64] broadcast(many), dimensions={}\n"
        "  x = f32[32,64] add(p, shift)\n"
        "  sum = f32[32] reduce(x, zero), dimensions={1}, to_apply=add\n"
        "  mean = f32[32] multiply(sum, parts)\n" +
        variance + "}");
  };
  const Module two_passes = module(
      "  means = f32[32,64] broadcast(mean), dimensions={0}\n"
      "  d = f32[32,64] subtract(x, means)\n"
      "  d2 = f32[32,64] multiply(d, d)\n"
      "  sum2 = f32[32] reduce(d2, zero), dimensions={1}, to_apply=add\n"
      "  ROOT r = f32[32] multiply(sum2, parts)\n");
  const Module one_pass = module(
      "  x2 = f32[32,64] multiply(x, x)\n"
      "  sum2 = f32[32] reduce(x2, zero), dimensions={1}, to_apply=add\n"
      "  mean2 = f32[32] multiply(sum2, parts)\n"
      "  square = f32[32] multiply(mean, mean)\n"
      "  ROOT r = f32[32] subtract(mean2, square)\n");
  HONE_ASSERT_OK_AND_ASSIGN(const EquivalenceReport report,
                            CheckEquivalent(two_passes, one_pass));
  EXPECT_TRUE(!report.equal || !CheckEvidence(report.unverifiable).ok());
  HONE_ASSERT_OK_AND_ASSIGN(const EquivalenceReport same,
                            CheckEquivalent(two_passes, two_passes));
  EXPECT_TRUE(same.equal && CheckEvidence(same.unverifiable).ok());
}

// A logarithm of what is never positive is NaN on every input.
TEST(CheckEquivalent, SaysWhereNanShowsNothing) {
  const std::string nan =
      "square = f32[64] multiply(p, p)\nnegative = f32[64] negate(square)\n"
      "one = f32[] constant(1)\nones = f32[64] broadcast(one), dimensions={}\n"
      "less = f32[64] subtract(negative, ones)\nn = f32[64] log(less)\n";
  HONE_ASSERT_OK_AND_ASSIGN(
      const EquivalenceReport report,
      CheckEquivalent(Function(nan + "ROOT r = f32[64] add(n, p)"),
                      Function(nan + "ROOT r = f32[64] multiply(n, q)")));
  EXPECT_TRUE(report.equal);
  EXPECT_EQ(report.unverifiable, 1);
  // The same instructions need no input to be equal.
  HONE_ASSERT_OK_AND_ASSIGN(
      const EquivalenceReport same,
      CheckEquivalent(Function(nan + "ROOT r = f32[64] add(n, p)"),
                      Function(nan + "ROOT r = f32[64] add(n, p)")));
  EXPECT_EQ(same.unverifiable, 0);
}

// Arguments within tuples adapt and become special like others.
TEST(CheckEquivalent, AdaptsArraysWithinTuples) {
  const auto sum_of_logs = [](const std::string& result) {
    return Parse(R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  t = (f32[64], s32[]) parameter(0)
  x = f32[64] get-tuple-element(t), index=0
  l = f32[64] log(x)
  zero = f32[] constant(0)
  s = f32[] reduce(l, zero), dimensions={0}, to_apply=add
  )" + result + "\n}");
  };
  HONE_ASSERT_OK_AND_ASSIGN(
      const EquivalenceReport report,
      CheckEquivalent(sum_of_logs("ROOT r = f32[] negate(s)"),
                      sum_of_logs("twice = f32[] add(s, s)\n"
                                  "  ROOT r = f32[] negate(twice)")));
  EXPECT_FALSE(report.equal);
}

TEST(CheckEquivalent, CountsThePartsOfComplexNumbers) {
  const auto module = [](const std::string& imaginary) {
    return Parse(
        "HloModule m\nENTRY e {\n  p = f32[] parameter(0)\n"
        "  q = f32[] parameter(1)\n  d = f32[] add(" +
        imaginary + ", q)\n  ROOT r = c64[] complex(d, d)\n}");
  };
  HONE_ASSERT_OK_AND_ASSIGN(const EquivalenceReport report,
                            CheckEquivalent(module("p"), module("q")));
  EXPECT_FALSE(report.equal);
  EXPECT_THAT(report.explanation, HasSubstr("2 of 2 elements"));
}

// Types too narrow for other rounding are held to half of a number.
TEST(CheckEquivalent, JudgesEightBitFloats) {
  const auto module = [](const std::string& factor) {
    return Parse(
        "HloModule m\nENTRY e {\n  p = f32[64] parameter(0)\n"
        "  c = f32[] constant(" +
        factor +
        ")\n  f = f32[64] broadcast(c), dimensions={}\n"
        "  x = f32[64] multiply(p, f)\n"
        "  ROOT r = f8e4m3fn[64] convert(x)\n}");
  };
  HONE_ASSERT_OK_AND_ASSIGN(const EquivalenceReport same,
                            CheckEquivalent(module("1"), module("1.01")));
  EXPECT_TRUE(same.equal) << same.explanation;
  HONE_ASSERT_OK_AND_ASSIGN(const EquivalenceReport different,
                            CheckEquivalent(module("1"), module("2")));
  EXPECT_FALSE(different.equal);
}

TEST(MakeArguments, RefusesWhatDoesNotFitIntoMemory) {
  const Module module = Parse(
      "HloModule m\nENTRY e {\n  p = f32[100000,100000] parameter(0)\n"
      "  ROOT r = f32[100000,100000] add(p, p)\n}");
  EXPECT_THAT(MakeArguments(module, ArgumentKind::kRandom, 1),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("up to parameter p")));
}

TEST(CheckEquivalent, ExplainsDifferences) {
  const absl::StatusOr<EquivalenceReport> report =
      CheckEquivalent(Function("ROOT r = f32[64] add(p, q)"),
                      Function("ROOT r = f32[64] subtract(p, q)"));
  ASSERT_THAT(report, testing::IsOk());
  EXPECT_FALSE(report->equal);
  EXPECT_THAT(report->explanation,
              HasSubstr("on random input 0, the result differs at ["));
}

// x - x is 0 except where x is infinite or NaN.
TEST(CheckEquivalent, FindsWhatOnlySpecialValuesShow) {
  EquivalenceOptions options;
  options.adversarial_inputs = 30;
  const absl::StatusOr<EquivalenceReport> report =
      CheckEquivalent(Function("ROOT r = f32[64] subtract(p, p)"),
                      Function("z = f32[] constant(0)\n"
                               "ROOT r = f32[64] broadcast(z), dimensions={}"),
                      options);
  ASSERT_THAT(report, testing::IsOk());
  EXPECT_FALSE(report->equal);
  EXPECT_THAT(report->explanation, HasSubstr("on adversarial input"));
}

// If random inputs give mostly NaN, non-negative ones show the difference.
TEST(CheckEquivalent, ReplacesInputsThatGiveNan) {
  // With both signs among 64 logarithms of a product, the sum is NaN.
  const auto sum_of_logs = [](const std::string& factor) {
    return Parse(R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  p = f32[64] parameter(0)
  l = f32[64] log(p)
  z = f32[] constant(0)
  s = f32[] reduce(l, z), dimensions={0}, to_apply=sum
  f = f32[] constant()" +
                 factor + R"()
  ROOT r = f32[] multiply(s, f)
})");
  };
  const absl::StatusOr<EquivalenceReport> report =
      CheckEquivalent(sum_of_logs("1"), sum_of_logs("2"));
  ASSERT_THAT(report, testing::IsOk());
  EXPECT_FALSE(report->equal);
}

// A sum that is zero but for rounding, and one that is not, times `factor`.
Module NoiseAndSum(const std::string& difference, const std::string& factor) {
  return Parse(R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  p = f32[1000] parameter(0)
  t = f32[1000] tanh(p)
  v = f32[1000] reverse(t), dimensions={0}
  z = f32[] constant(0)
  s = f32[] reduce(t, z), dimensions={0}, to_apply=sum
)" + difference +
               R"(
  f = f32[] constant()" +
               factor + R"()
  m = f32[] multiply(s, f)
  ROOT r = (f32[], f32[]) tuple(d, m)
})");
}

constexpr char kDifferenceOfSums[] = R"(
  x = f32[500] slice(t), slice={[0:1000:2]}
  y = f32[500] slice(t), slice={[1:1000:2]}
  sx = f32[] reduce(x, z), dimensions={0}, to_apply=sum
  sy = f32[] reduce(y, z), dimensions={0}, to_apply=sum
  sum_of_both = f32[] add(sx, sy)
  d = f32[] subtract(s, sum_of_both))";
constexpr char kReversed[] = R"(
  sv = f32[] reduce(v, z), dimensions={0}, to_apply=sum
  d = f32[] subtract(s, sv))";

TEST(CheckEquivalent, AcceptsRoundingNoise) {
  EquivalenceOptions options;
  options.adversarial_inputs = 0;
  const absl::StatusOr<EquivalenceReport> report =
      CheckEquivalent(NoiseAndSum(kDifferenceOfSums, "1"),
                      NoiseAndSum(kReversed, "1"), options);
  ASSERT_THAT(report, testing::IsOk());
  EXPECT_TRUE(report->equal) << report->explanation;
  EXPECT_EQ(report->unverifiable, 0);
}

TEST(CheckEquivalent, FindsDifferencesBesideRoundingNoise) {
  const absl::StatusOr<EquivalenceReport> report = CheckEquivalent(
      NoiseAndSum(kDifferenceOfSums, "1"), NoiseAndSum(kReversed, "1.01"));
  ASSERT_THAT(report, testing::IsOk());
  EXPECT_FALSE(report->equal);
  EXPECT_THAT(report->explanation, HasSubstr("output 1 differs"));
}

// Different modules that errors relative to the whole output, or slack for the
// whole output, would call equal.
TEST(CheckEquivalent, TellsElementsApartBesideLargeAndNoisyOnes) {
  for (const char* name : {"rms", "slack"}) {
    const auto read = [&](const char* side) {
      const absl::StatusOr<Module> module = ReadModuleFile(absl::StrCat(
          HONE_SOURCE_DIR, "/tests/testdata/different/", name, side));
      EXPECT_TRUE(module.ok()) << module.status();
      return *module;
    };
    HONE_ASSERT_OK_AND_ASSIGN(const EquivalenceReport report,
                              CheckEquivalent(read("-a.hlo"), read("-b.hlo")));
    EXPECT_FALSE(report.equal) << name;
    EXPECT_THAT(report.explanation, HasSubstr("63 of 64 elements")) << name;
  }
}

// x·s·t and x·(s·t): the product of two large scalars overflows.
TEST(CheckEquivalent, TellsProductsApartThatOverflowInOneOrder) {
  const auto scaled = [](const std::string& product) {
    return Parse(R"(HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  s = f32[] parameter(1)
  t = f32[] parameter(2)
  ss = f32[8] broadcast(s), dimensions={}
  ts = f32[8] broadcast(t), dimensions={}
)" + product + "\n}");
  };
  HONE_ASSERT_OK_AND_ASSIGN(const EquivalenceReport report,
                            CheckEquivalent(scaled(R"(
  a = f32[8] multiply(x, ss)
  ROOT r = f32[8] multiply(a, ts))"),
                                            scaled(R"(
  b = f32[8] multiply(ss, ts)
  ROOT r = f32[8] multiply(x, b))")));
  EXPECT_FALSE(report.equal);
  EXPECT_THAT(report.explanation, HasSubstr("extreme scalars"));
}

// The evaluator folds in f32; what it folded is judged in f64.
TEST(CheckEquivalent, RefusesAWronglyFoldedConstant) {
  const Module original = Function(R"(
  c = f32[] constant(0.7)
  e = f32[] exponential(c)
  b = f32[64] broadcast(e), dimensions={}
  ROOT r = f32[64] multiply(p, b))");
  const auto folded = [&](const char* value) {
    const absl::StatusOr<EquivalenceReport> report = CheckEquivalent(
        original, Function(absl::StrCat("  c = f32[] constant(", value, R"()
  b = f32[64] broadcast(c), dimensions={}
  ROOT r = f32[64] multiply(p, b))")));
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() && report->equal;
  };
  EXPECT_TRUE(folded("2.01375270"));
  EXPECT_FALSE(folded("2.01376"));
  EXPECT_FALSE(folded("2.0"));
}

TEST(EquivalenceCheck, SaysWhatWasCheckedSoFar) {
  const Module a = Function("ROOT r = f32[64] add(p, q)");
  const Module b = Function("ROOT r = f32[64] add(q, p)");
  HONE_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<EquivalenceCheck> check,
                            EquivalenceCheck::Create(a, b, {}));
  HONE_ASSERT_OK(check->CheckInput(ArgumentKind::kRandom, 1));
  EXPECT_EQ(check->Report().method,
            "evaluator: 1 random, 0 adversarial inputs");
  HONE_ASSERT_OK(check->CheckInput(ArgumentKind::kAdversarial, 2));
  EXPECT_EQ(check->Report().method,
            "evaluator: 1 random, 1 adversarial inputs");
  EXPECT_TRUE(check->Report().equal);
  EXPECT_FALSE(check->IsUseful(ArgumentKind::kExtreme));
}

TEST(CheckEquivalent, RejectsDifferentSignatures) {
  const Module a = Function("ROOT r = f32[64] add(p, q)");
  EXPECT_THAT(CheckEquivalent(a, Parse(R"(HloModule m
ENTRY e {
  p = f32[64] parameter(0)
  ROOT r = f32[64] add(p, p)
})")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("2 and 1 parameters")));
  EXPECT_THAT(
      CheckEquivalent(a, Function("ROOT r = f32[64,1] reshape(p)")),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("the results have shape f32[64] and f32[64,1]")));
}

}  // namespace
}  // namespace hone::hlo
