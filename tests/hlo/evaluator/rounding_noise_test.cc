#include "hlo/evaluator/rounding_noise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
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

TEST(AddRoundingNoise, MovesNumbersOfFewDigitsIfTold) {
  Literal array(Shape::Array(ElementType::kF64, {1000}));
  for (int64_t i = 0; i < 1000; ++i) array.SetDouble(i, i % 2 == 0 ? 100 : 0);
  AddRoundingNoise(array, 4, /*seed=*/1, nullptr, Moves::kAll);
  int moved = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    const double error = std::fabs(array.AsDouble(i) - (i % 2 == 0 ? 100 : 0));
    EXPECT_LE(error, i % 2 == 0 ? 4 * 0x1p-46 : 0);
    moved += error > 0 ? 1 : 0;
  }
  EXPECT_GT(moved, 150);
  EXPECT_LT(moved, 350);
}

// Sums of x and k, in which 10^6 and -10^6 cancel.
std::vector<std::string> Sums() {
  return {R"(HloModule m
ENTRY e {
  x = f64[3] parameter(0)
  k = f64[3] parameter(1)
  ROOT d = f64[] dot(x, k), lhs_contracting_dims={0}, rhs_contracting_dims={0}
})",
          R"(HloModule m
ENTRY e {
  x = f64[3] parameter(0)
  k = f64[3] parameter(1)
  xr = f64[1,1,3] reshape(x)
  kr = f64[1,1,3] reshape(k)
  ROOT c = f64[1,1,1] convolution(xr, kr), window={size=3}, dim_labels=bf0_oi0->bf0
})",
          R"(HloModule m
add {
  a = f64[] parameter(0)
  b = f64[] parameter(1)
  ROOT s = f64[] add(a, b)
}
ENTRY e {
  x = f64[3] parameter(0)
  k = f64[3] parameter(1)
  p = f64[3] multiply(x, k)
  z = f64[] constant(0)
  ROOT r = f64[] reduce(p, z), dimensions={0}, to_apply=add
})"};
}

// Large terms of few digits make partial sums that are rounded, unless all
// terms have few digits.
TEST(Evaluate, RoundsPartialSumsOfLargeTermsOtherwise) {
  for (const std::string& text : Sums()) {
    HONE_ASSERT_OK_AND_ASSIGN(const Module module, ParseHloText(text));
    // One of them is lost below a rounding error of the large ones.
    for (double small : {0.0849469448114694, 1.1e-13, 3.0}) {
      const auto vector = [](const std::vector<double>& values) {
        Literal array(Shape::Array(ElementType::kF64, {3}));
        for (int64_t i = 0; i < 3; ++i) {
          array.SetDouble(i, values[static_cast<size_t>(i)]);
        }
        return array;
      };
      const std::vector<Literal> arguments = {vector({1e4, small, 1e4}),
                                              vector({100, 1, -100})};
      double largest = 0;
      for (uint64_t seed = 1; seed <= 12; ++seed) {
        const EvaluateOptions options{.rounding_noise = seed};
        const Literal sum = Evaluate(module, arguments, options).value();
        largest = std::max(largest, std::fabs(sum.AsDouble(0) - small));
      }
      constexpr double kUnit = 0x1p-52 * 1e6;
      if (small == 3) {
        EXPECT_EQ(largest, 0) << text;
      } else {
        EXPECT_GE(largest, kUnit / 2) << text;
        EXPECT_LE(largest, 20 * kUnit) << text;
      }
    }
  }
}

// A term that a zero masks rounds nothing.
TEST(Evaluate, KeepsExactSumsBesideMaskedTerms) {
  for (const std::string& text : Sums()) {
    HONE_ASSERT_OK_AND_ASSIGN(const Module module, ParseHloText(text));
    std::vector<Literal> arguments(2);
    const double values[2][3] = {{100, 0.1, 3}, {1, 0, -1}};
    for (size_t a = 0; a < 2; ++a) {
      arguments[a] = Literal(Shape::Array(ElementType::kF64, {3}));
      for (int64_t i = 0; i < 3; ++i) {
        arguments[a].SetDouble(i, values[a][i]);
      }
    }
    for (uint64_t seed = 1; seed <= 12; ++seed) {
      const EvaluateOptions options{.rounding_noise = seed};
      EXPECT_EQ(Evaluate(module, arguments, options).value().AsDouble(0), 97)
          << text;
    }
  }
}

// A region that does more than add may take another course.
TEST(AccumulatesSmoothly, IsTrueOfPlainSums) {
  for (const auto& [root, expected] :
       {std::pair{"add(a, b)", true}, std::pair{"add(a, c)", false},
        std::pair{"multiply(a, b)", false}}) {
    HONE_ASSERT_OK_AND_ASSIGN(const Module module,
                              ParseHloText(absl::StrCat(R"(HloModule m
region {
  a = f64[] parameter(0)
  b = f64[] parameter(1)
  c = f64[] sign(b)
  ROOT s = f64[] )",
                                                        root, R"(
}
ENTRY e {
  x = f64[3] parameter(0)
  z = f64[] constant(0)
  ROOT r = f64[] reduce(x, z), dimensions={0}, to_apply=region
})")));
    const Computation& entry = module.entry_computation();
    EXPECT_EQ(AccumulatesSmoothly(module, entry[entry.root()]), expected)
        << root;
  }
}

}  // namespace
}  // namespace hone::hlo::evaluator
