#include "hlo/equivalence/judge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

#include "base/rng.h"
#include "base/thread_pool.h"

namespace hone::hlo {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Literal Array(ElementType type, const std::vector<double>& values) {
  Literal literal(Shape::Array(type, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) {
    literal.SetDouble(static_cast<int64_t>(i), values[i]);
  }
  return literal;
}

struct Numbers {
  std::vector<double> original;
  std::vector<double> truth;
  std::vector<double> rewritten;
  std::vector<double> rewritten_truth;
};

ArrayVerdict Judge(const Numbers& numbers,
                   ElementType type = ElementType::kF32) {
  Evidence evidence;
  evidence.original = Array(type, numbers.original);
  evidence.truth = Array(ElementType::kF64, numbers.truth);
  evidence.rewritten = Array(type, numbers.rewritten);
  evidence.rewritten_truth = Array(ElementType::kF64, numbers.rewritten_truth);
  return JudgeArrays(evidence).at(0);
}

TEST(JudgeArrays, AcceptsRoundingAndRefusesMore) {
  const std::vector<double> t = {3};
  EXPECT_EQ(Judge({{3}, t, {3 * (1 + 0x1p-20)}, t}).wrong, 0);
  EXPECT_EQ(Judge({{3}, t, {3 * (1 + 0x1p-18)}, t}).wrong, 1);
  // Of narrow types, steps of their own.
  EXPECT_EQ(Judge({{3}, t, {3.015625}, t}, ElementType::kBf16).wrong, 0);
  EXPECT_EQ(Judge({{3}, t, {3.125}, t}, ElementType::kBf16).wrong, 1);
}

// In a narrow type, a constant of two steps more means something else, though
// two steps of rounding need no excuse.
TEST(JudgeArrays, ComparesTheMathematicsOfNarrowTypesMoreFinely) {
  EXPECT_EQ(Judge({{3}, {3}, {3.015625}, {3.005}}, ElementType::kBf16).wrong,
            0);
  EXPECT_EQ(Judge({{3}, {3}, {3.015625}, {3.015625}}, ElementType::kBf16).wrong,
            1);
}

// What rounds to the same but means something else, as in noise.
TEST(JudgeArrays, ComparesTheMathematics) {
  EXPECT_EQ(Judge({{3}, {3}, {std::nextafter(3.F, 4.F)}, {3.01}}).wrong, 1);
}

// Constants that were folded carry roundings that the original makes, too.
TEST(JudgeArrays, AcceptsTheRoundingOfTheOriginalInItsMathematics) {
  const double a = 3 * (1 + 0x1p-17);
  EXPECT_EQ(Judge({{a}, {3}, {a * (1 + 0x1p-22)}, {a * (1 + 0x1p-30)}}).wrong,
            0);
  EXPECT_EQ(Judge({{a}, {3}, {a * (1 + 0x1p-22)}, {a * (1 + 0x1p-22)}}).wrong,
            0);
  EXPECT_EQ(Judge({{a}, {3}, {a * (1 + 0x1p-22)}, {a * (1 + 0x1p-17)}}).wrong,
            1);
}

// 4096 elements whose own error is about 1e-3 of them.
Numbers Noisy(double magnitude, double error) {
  Numbers numbers;
  Rng rng(1);
  for (int i = 0; i < 4096; ++i) {
    const double t = magnitude * (1 + rng.Uniform());
    numbers.truth.push_back(t);
    numbers.rewritten_truth.push_back(t);
    numbers.original.push_back(t + error * rng.Normal());
    numbers.rewritten.push_back(t + error * rng.Normal());
  }
  return numbers;
}

// A draw of the roundings that the original makes has elements beyond its
// spread; a change of all elements has not.
TEST(JudgeArrays, ComparesTheMathematicsOfNoisyElementsByItsSpread) {
  Numbers folded = Noisy(1, 1e-3);
  Rng rng(2);
  for (double& s : folded.rewritten_truth) s += 0.9e-3 * rng.Normal();
  EXPECT_EQ(Judge(folded).wrong, 0);
  Numbers shifted = Noisy(1, 1e-3);
  for (double& s : shifted.rewritten_truth) s += 1.5e-3;
  EXPECT_GT(Judge(shifted).wrong, 2000);
  Numbers one = Noisy(1, 1e-3);
  one.rewritten_truth[77] += 20e-3;
  EXPECT_EQ(Judge(one).wrong, 1);
}

TEST(JudgeArrays, ExcusesWhatTheOriginalGetsWrongAsMuch) {
  EXPECT_EQ(Judge(Noisy(1, 1e-3)).wrong, 0);
  Numbers numbers = Noisy(1, 1e-3);
  numbers.rewritten[77] += 0.02;
  EXPECT_EQ(Judge(numbers).wrong, 1);
  EXPECT_EQ(Judge(numbers).worst.element, "[77]");
}

// Neither noise nor magnitude of other elements excuses one.
TEST(JudgeArrays, ExcusesNoElementByOthers) {
  Numbers numbers = Noisy(1, 1e-3);
  for (int i = 0; i < 100; ++i) {
    numbers.original.push_back(1e-5);
    numbers.truth.push_back(1e-5);
    numbers.rewritten.push_back(i == 50 ? 0 : 1e-5);
    numbers.rewritten_truth.push_back(i == 50 ? 0 : 1e-5);
  }
  EXPECT_EQ(Judge(numbers).wrong, 1);
}

// Zero but for rounding: double precision tells whether it is.
TEST(JudgeArrays, CountsNoiseThatMayMeanAnything) {
  Numbers numbers = Noisy(0, 1e-8);
  EXPECT_EQ(Judge(numbers).wrong, 0);
  EXPECT_EQ(Judge(numbers).unverifiable, 0);
  for (double& s : numbers.rewritten_truth) s = 2e-9;
  EXPECT_EQ(Judge(numbers).wrong, 0);
  EXPECT_EQ(Judge(numbers).unverifiable, 4096);
  for (double& s : numbers.rewritten_truth) s = 1e-3;
  EXPECT_EQ(Judge(numbers).wrong, 4096);
}

// A sum in another order, of what the original sums exactly.
TEST(JudgeArrays, CountsWorseRoundingByTheSameMathematics) {
  Evidence evidence;
  evidence.original = Array(ElementType::kF32, {1});
  evidence.truth = Array(ElementType::kF64, {1});
  evidence.rewritten = Array(ElementType::kF32, {1.001});
  evidence.rewritten_truth = Array(ElementType::kF64, {1 + 1e-9});
  EXPECT_EQ(JudgeArrays(evidence).at(0).wrong, 1);
  evidence.moved_rewritten = {Array(ElementType::kF32, {1.0005})};
  EXPECT_EQ(JudgeArrays(evidence).at(0).wrong, 0);
  EXPECT_EQ(JudgeArrays(evidence).at(0).unverifiable, 1);
  evidence.rewritten_truth = Array(ElementType::kF64, {1 + 1e-5});
  EXPECT_EQ(JudgeArrays(evidence).at(0).wrong, 1);
}

// Where the original is exact by luck, double precision shows the rounding of
// the rewritten module, not another meaning.
TEST(JudgeArrays, TakesTheNoiseOfTheRewrittenForWhatItIs) {
  Evidence evidence;
  evidence.original = Array(ElementType::kF32, {1e-19});
  evidence.truth = Array(ElementType::kF64, {-1e-20});
  evidence.rewritten = Array(ElementType::kF32, {1e-14});
  evidence.rewritten_truth = Array(ElementType::kF64, {1e-20});
  evidence.moved = {Array(ElementType::kF32, {2e-16})};
  // Other rounding moves the rewritten one as far as its error, or not.
  evidence.moved_rewritten = {Array(ElementType::kF32, {0})};
  EXPECT_EQ(JudgeArrays(evidence).at(0).wrong, 0);
  EXPECT_EQ(JudgeArrays(evidence).at(0).unverifiable, 1);
  evidence.moved_rewritten = {Array(ElementType::kF32, {0.99e-14})};
  EXPECT_EQ(JudgeArrays(evidence).at(0).wrong, 1);
  // More than a 2^16th of that noise is another meaning.
  evidence.moved_rewritten = {Array(ElementType::kF32, {0})};
  evidence.rewritten_truth = Array(ElementType::kF64, {2e-19});
  EXPECT_EQ(JudgeArrays(evidence).at(0).wrong, 1);
}

// Small magnitudes are rare in each block, so that the whole array decides.
TEST(JudgeArrays, JudgesAlikeOnAnyNumberOfThreads) {
  constexpr int64_t kSize = 300'000;
  Rng rng(7);
  std::vector<double> t, a, b;
  for (int64_t i = 0; i < kSize; ++i) {
    t.push_back(rng.Normal() * (i % 211 == 0 ? 1e-6 : 1));
    const double error = 1e-5 * std::fabs(t.back());
    a.push_back(t.back() + error * rng.Normal());
    b.push_back(t.back() + (i % 1000 == 0 ? 9 : 1) * error * rng.Normal());
  }
  Evidence evidence;
  evidence.original = Array(ElementType::kF32, a);
  evidence.truth = Array(ElementType::kF64, t);
  evidence.rewritten = Array(ElementType::kF32, b);
  evidence.rewritten_truth = Array(ElementType::kF64, t);
  const ArrayVerdict alone = JudgeArrays(evidence).at(0);
  EXPECT_GT(alone.wrong, 0);
  EXPECT_LT(alone.wrong, kSize / 1000);
  for (size_t threads : {size_t{1}, size_t{3}, size_t{8}}) {
    ThreadPool pool(threads);
    const ArrayVerdict verdict = JudgeArrays(evidence, "", &pool).at(0);
    EXPECT_EQ(verdict.wrong, alone.wrong);
    EXPECT_EQ(verdict.worst.element, alone.worst.element);
    EXPECT_EQ(verdict.max_rel_error, alone.max_rel_error);
  }
}

// Of 20,000 elements, two may be rounded to another neighbour though the runs
// with other rounding do not show that they lie between both.
TEST(JudgeArrays, TakesAFewJumpsForUndecided) {
  const std::vector<double> numbers(20'000, 3);
  for (ElementType type : {ElementType::kS32, ElementType::kF32}) {
    const ElementType exact =
        type == ElementType::kF32 ? ElementType::kF64 : type;
    for (int64_t jumps : {2, 3}) {
      Evidence evidence;
      evidence.original = Array(type, numbers);
      evidence.truth = Array(exact, numbers);
      evidence.rewritten_truth = Array(exact, numbers);
      std::vector<double> jumped = numbers;
      std::fill_n(jumped.begin(), jumps, 4);
      evidence.rewritten = Array(type, jumped);
      // Without runs of the rewritten module nothing is excused.
      EXPECT_EQ(JudgeArrays(evidence).at(0).wrong, jumps);
      evidence.moved = {Array(type, numbers)};
      evidence.moved_rewritten = {Array(type, jumped)};
      const ArrayVerdict verdict = JudgeArrays(evidence).at(0);
      EXPECT_EQ(verdict.wrong, jumps == 2 ? 0 : 3);
      EXPECT_EQ(verdict.unverifiable, jumps == 2 ? 2 : 0);
      // What means something else is wrong, however rare.
      std::vector<double> meant = numbers;
      meant[0] = 4;
      evidence.rewritten_truth = Array(exact, meant);
      EXPECT_EQ(JudgeArrays(evidence).at(0).wrong, jumps);
    }
  }
}

TEST(JudgeArrays, TellsInfinitiesAndNanApart) {
  struct Case {
    double a, t, b;
    int64_t wrong, unverifiable;
  };
  for (const Case& c :
       {Case{kNan, kNan, kNan, 0, 0}, Case{kInf, kInf, kInf, 0, 0},
        Case{kInf, kInf, kNan, 1, 0}, Case{kInf, kInf, 1, 1, 0},
        Case{kNan, kNan, 0, 1, 0}, Case{1, 1, kNan, 1, 0},
        Case{1, 1, kInf, 1, 0}, Case{kInf, -kInf, -kInf, 1, 0},
        // An overflow on the way.
        Case{kInf, 2, 2, 0, 1}, Case{kNan, 2, kInf, 0, 1},
        // At the end of the range.
        Case{3.4e38, 3.4e38, kInf, 0, 1}}) {
    const ArrayVerdict verdict = Judge({{c.a}, {c.t}, {c.b}, {c.t}});
    EXPECT_EQ(verdict.wrong, c.wrong) << c.a << " " << c.t << " " << c.b;
    EXPECT_EQ(verdict.unverifiable, c.unverifiable)
        << c.a << " " << c.t << " " << c.b;
    EXPECT_EQ(verdict.is_beyond_rounding,
              std::isfinite(c.a) && !std::isfinite(c.b) && c.wrong == 1);
  }
}

ArrayVerdict JudgeIndex(int64_t a, int64_t t, int64_t b, int64_t s,
                        int64_t moved) {
  const auto scalar = [](int64_t value) {
    return Literal::ScalarInt(ElementType::kS32, value);
  };
  Evidence evidence;
  evidence.original = scalar(a);
  evidence.truth = scalar(t);
  evidence.rewritten = scalar(b);
  evidence.rewritten_truth = scalar(s);
  evidence.moved = {scalar(moved)};
  return JudgeArrays(evidence).at(0);
}

TEST(JudgeArrays, IntegersAreEqualUnlessRoundingDecidesThem) {
  EXPECT_EQ(JudgeIndex(1, 1, 1, 1, 1).wrong, 0);
  EXPECT_EQ(JudgeIndex(1, 1, 2, 1, 1).wrong, 1);
  // The original decides otherwise with other rounding.
  EXPECT_EQ(JudgeIndex(1, 1, 2, 1, 2).wrong, 0);
  EXPECT_EQ(JudgeIndex(1, 1, 2, 1, 2).unverifiable, 1);
  // The original is off by rounding.
  EXPECT_EQ(JudgeIndex(1, 2, 2, 2, 1).wrong, 0);
  EXPECT_EQ(JudgeIndex(1, 2, 3, 3, 1).wrong, 1);
}

}  // namespace
}  // namespace hone::hlo
