#include "hlo/equivalence/stress.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/equivalence/equivalence.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::testing::SizeIs;

Module Parse(const std::string& text) {
  absl::StatusOr<Module> module = ParseHloText(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// A computation of two scalars.
std::string Region(const std::string& name, const std::string& type,
                   const std::string& opcode) {
  return name + " {\n  x = " + type + "[] parameter(0)\n  y = " + type +
         "[] parameter(1)\n  ROOT r = " + type + "[] " + opcode + "(x, y)\n}\n";
}

// A function of f32[64] p, f32[64] q, s32[64] n, pred[4,64] m.
Module Function(const std::string& body) {
  return Parse("HloModule m\n" + Region("maximum", "f32", "maximum") +
               Region("maximum_s32", "s32", "maximum") +
               Region("minimum_s32", "s32", "minimum") +
               Region("either", "pred", "or") + Region("both", "pred", "and") +
               R"(ENTRY e {
  p = f32[64] parameter(0)
  q = f32[64] parameter(1)
  n = s32[64] parameter(2)
  m = pred[4,64] parameter(3)
  zero = f32[] constant(0)
  zeros = f32[64] broadcast(zero), dimensions={}
  )" + body + "\n}");
}

struct Mistake {
  const char* name;
  const char* right;
  const char* wrong;
};

class OfMistakes : public ::testing::TestWithParam<Mistake> {};

// Each is right on ordinary numbers.
TEST_P(OfMistakes, AreRefusedWithAnySeed) {
  const Module right = Function(GetParam().right);
  const Module wrong = Function(GetParam().wrong);
  for (uint64_t seed = 0; seed < 5; ++seed) {
    EquivalenceOptions options;
    options.seed = seed;
    HONE_ASSERT_OK_AND_ASSIGN(const EquivalenceReport report,
                              CheckEquivalent(right, wrong, options));
    EXPECT_FALSE(report.equal) << "seed " << seed;
    HONE_ASSERT_OK_AND_ASSIGN(const EquivalenceReport same,
                              CheckEquivalent(right, right, options));
    EXPECT_TRUE(same.equal) << same.explanation;
  }
}

constexpr Mistake kMistakes[] = {
    {"DifferenceOfEquals", "ROOT r = f32[64] subtract(p, p)",
     "ROOT r = f32[64] add(zeros, zeros)"},
    {"ProductWithZero", "ROOT r = f32[64] multiply(p, zeros)",
     "ROOT r = f32[64] add(zeros, zeros)"},
    {"MaximumOfNan", "ROOT r = f32[64] maximum(p, zeros)",
     "c = pred[64] compare(p, zeros), direction=GT\n"
     "ROOT r = f32[64] select(c, p, zeros)"},
    {"LostClamp",
     "six = f32[] constant(6)\nsixes = f32[64] broadcast(six), dimensions={}\n"
     "ROOT r = f32[64] minimum(p, sixes)",
     "ROOT r = f32[64] copy(p)"},
    {"SmallStartOfMaximum",
     "low = f32[] constant(-inf)\n"
     "ROOT r = f32[] reduce(p, low), dimensions={0}, to_apply=maximum",
     "low = f32[] constant(-1000)\n"
     "ROOT r = f32[] reduce(p, low), dimensions={0}, to_apply=maximum"},
    {"LostGuardOfZero",
     "tiny = f32[] constant(1e-12)\n"
     "tinies = f32[64] broadcast(tiny), dimensions={}\n"
     "d = f32[64] maximum(p, tinies)\nROOT r = f32[64] divide(tinies, d)",
     "tiny = f32[] constant(1e-12)\n"
     "tinies = f32[64] broadcast(tiny), dimensions={}\n"
     "ROOT r = f32[64] divide(tinies, p)"},
    {"InfinityOfTheOtherSign", "a = f32[64] abs(p)\nROOT r = f32[64] log(a)",
     "a = f32[64] abs(p)\nl = f32[64] log(a)\n"
     "c = pred[64] compare(a, zeros), direction=EQ\n"
     "high = f32[] constant(inf)\n"
     "highs = f32[64] broadcast(high), dimensions={}\n"
     "ROOT r = f32[64] select(c, highs, l)"},
    {"StartOfMaximumOfIntegers",
     "low = s32[] constant(-2147483648)\n"
     "ROOT r = s32[] reduce(n, low), dimensions={0}, to_apply=maximum_s32",
     "low = s32[] constant(-1000000)\n"
     "ROOT r = s32[] reduce(n, low), dimensions={0}, to_apply=maximum_s32"},
    {"StartOfMinimumOfIntegers",
     "high = s32[] constant(2147483647)\n"
     "ROOT r = s32[] reduce(n, high), dimensions={0}, to_apply=minimum_s32",
     "high = s32[] constant(1000000)\n"
     "ROOT r = s32[] reduce(n, high), dimensions={0}, to_apply=minimum_s32"},
    {"MaskOfNothing",
     "no = pred[] constant(false)\n"
     "ROOT r = pred[4] reduce(m, no), dimensions={1}, to_apply=either",
     "yes = pred[] constant(true)\n"
     "ROOT r = pred[4] broadcast(yes), dimensions={}"},
    {"MaskOfEverything",
     "yes = pred[] constant(true)\n"
     "ROOT r = pred[4] reduce(m, yes), dimensions={1}, to_apply=both",
     "no = pred[] constant(false)\n"
     "ROOT r = pred[4] broadcast(no), dimensions={}"},
    {"RoundingOfHalves", "ROOT r = f32[64] round-nearest-afz(p)",
     "ROOT r = f32[64] round-nearest-even(p)"},
    {"ShiftForDivision",
     "four = s32[] constant(4)\nfours = s32[64] broadcast(four), "
     "dimensions={}\nROOT r = s32[64] divide(n, fours)",
     "two = s32[] constant(2)\ntwos = s32[64] broadcast(two), dimensions={}\n"
     "ROOT r = s32[64] shift-right-arithmetic(n, twos)"},
    {"LostPadding",
     "pad = s32[] constant(50256)\npads = s32[64] broadcast(pad), "
     "dimensions={}\nc = pred[64] compare(n, pads), direction=EQ\n"
     "ROOT r = f32[64] select(c, zeros, p)",
     "ROOT r = f32[64] copy(p)"},
    {"LostNegativeNumbers",
     // The square root needs p to be positive.
     "s = f32[64] sqrt(p)\nt = f32[64] maximum(q, zeros)\n"
     "u = f32[64] add(s, t)\nminus = f32[] constant(-inf)\n"
     "ROOT r = f32[] reduce(u, minus), dimensions={0}, to_apply=maximum",
     "s = f32[64] sqrt(p)\nt = f32[64] abs(q)\n"
     "u = f32[64] add(s, t)\nminus = f32[] constant(-inf)\n"
     "ROOT r = f32[] reduce(u, minus), dimensions={0}, to_apply=maximum"},
};

INSTANTIATE_TEST_SUITE_P(Stresses, OfMistakes, ::testing::ValuesIn(kMistakes),
                         [](const auto& mistake) {
                           return mistake.param.name;
                         });

TEST(Stresses, ReachTheEndsOfUnsignedIntegers) {
  for (ElementType type : {ElementType::kU8, ElementType::kU32}) {
    std::vector<Literal> arguments = {Literal(Shape::Array(type, {2}))};
    arguments[0].SetInt(0, 0);
    arguments[0].SetInt(1, 7);
    Rng rng(1);
    Apply({Stress::Kind::kLarge}, {}, rng, arguments);
    const int64_t largest = (int64_t{1} << BitWidth(type)) - 1;
    EXPECT_EQ(arguments[0].AsInt(0), largest);
    EXPECT_EQ(arguments[0].AsInt(1), largest - 7);
  }
}

// A constant folder makes an array of what was a scalar and a broadcast.
TEST(ScalarConstants, AreThoseOfArraysOfOneValue) {
  const Module module = Parse(R"(HloModule m
ENTRY e {
  a = f32[] constant(3)
  b = s32[2] constant({50256, 50256})
  c = f32[2] constant({5, 6})
  ROOT r = (f32[], s32[2], f32[2]) tuple(a, b, c)
})");
  EXPECT_THAT(ScalarConstants(module), ::testing::ElementsAre(3, 50256));
}

TEST(Stresses, AreFewWhereEvaluationTakesLong) {
  const Module small = Parse(R"(HloModule m
ENTRY e {
  p = f32[8] parameter(0)
  q = f32[8] parameter(1)
  ROOT r = f32[8] add(p, q)
})");
  // Seven of all arguments, one of each.
  EXPECT_THAT(StressesFor(small), SizeIs(9));
  const Module large = Parse(R"(HloModule m
ENTRY e {
  p = f32[4096,4096] parameter(0)
  ROOT r = f32[4096,4096] add(p, p)
})");
  EXPECT_THAT(StressesFor(large), SizeIs(1));
}

}  // namespace
}  // namespace hone::hlo
