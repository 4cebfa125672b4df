#include "hlo/evaluator/rounding_noise.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

#include "hlo/evaluator/evaluator.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo::evaluator {
namespace {

TEST(AddRoundingNoise, MovesByAUnitInTheLastPlace) {
  for (ElementType type : {ElementType::kF16, ElementType::kBf16,
                           ElementType::kF32, ElementType::kF64}) {
    Literal array(Shape::Array(type, {1000}));
    for (int64_t i = 0; i < 1000; ++i) array.SetDouble(i, 0.3);
    const double x = array.AsDouble(0);
    AddRoundingNoise(array, 1, /*seed=*/1);
    const double epsilon = type == ElementType::kF16    ? 0x1p-10
                           : type == ElementType::kBf16 ? 0x1p-7
                           : type == ElementType::kF32  ? 0x1p-23
                                                        : 0x1p-52;
    int moved = 0;
    for (int64_t i = 0; i < 1000; ++i) {
      const double error = std::fabs(array.AsDouble(i) - x);
      EXPECT_LE(error, epsilon * x);
      moved += error > 0 ? 1 : 0;
    }
    EXPECT_GT(moved, 300);
    EXPECT_LT(moved, 700);
  }
}

TEST(AddRoundingNoise, KeepsNumbersOfFewDigitsAndSpecialOnes) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double values[] = {0, -0.0, 1, -3, 0.5, 1000, kInf, -kInf};
  Literal array(Shape::Array(ElementType::kF32, {std::ssize(values)}));
  for (int64_t i = 0; i < std::ssize(values); ++i) {
    array.SetDouble(i, values[i]);
  }
  AddRoundingNoise(array, 1, /*seed=*/1);
  for (int64_t i = 0; i < std::ssize(values); ++i) {
    EXPECT_EQ(array.AsDouble(i), values[i]);
  }
}

TEST(AddRoundingNoise, DoesNotDependOnThreads) {
  ThreadPool pool(2);
  const auto moved = [](ThreadPool* threads) {
    Literal array(Shape::Array(ElementType::kF32, {300000}));
    for (int64_t i = 0; i < 300000; ++i) array.SetDouble(i, 0.3);
    AddRoundingNoise(array, 4, /*seed=*/7, threads);
    return array;
  };
  EXPECT_EQ(moved(nullptr), moved(&pool));
}

TEST(Evaluate, RoundsOtherwiseBySeed) {
  HONE_ASSERT_OK_AND_ASSIGN(const Module module, ParseHloText(R"(HloModule m
ENTRY e {
  x = f32[] parameter(0)
  s = f32[] sine(x)
  ROOT r = f32[] exponential(s)
})"));
  const std::vector<Literal> x = {Literal::Scalar(ElementType::kF32, 0.7)};
  const Literal plain = Evaluate(module, x).value();
  bool moves = false;
  for (uint64_t seed = 1; seed < 10; ++seed) {
    const EvaluateOptions options{.rounding_noise = seed};
    const Literal moved = Evaluate(module, x, options).value();
    EXPECT_EQ(moved, Evaluate(module, x, options).value());
    EXPECT_NEAR(moved.AsDouble(0), plain.AsDouble(0), 1e-6);
    moves |= !(moved == plain);
  }
  EXPECT_TRUE(moves);
}

}  // namespace
}  // namespace hone::hlo::evaluator
