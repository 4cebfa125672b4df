#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "gtest/gtest.h"

#include "backends/cpu/compiler.h"
#include "backends/cpu/loaded_object.h"
#include "loops/text/text.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

constexpr int64_t kBlock = 4096;
// Every so many floats are tried: all exponents, many mantissas.
constexpr uint64_t kStep = 2003;

// A native function of `arity` arrays of kBlock floats.
class NativeFunction {
 public:
  // `mode` is that of the loop over 16 elements.
  NativeFunction(const std::string& expression, int arity,
                 absl::string_view mode = "vector") {
    const std::string text = absl::Substitute(
        "kernel math\nargument a f32[$0]\n$1result y f32[$0]\n"
        "for i $2\n| for v 16 $4\n| | y[16*i+v] = $3\n",
        kBlock,
        arity == 2 ? absl::Substitute("argument b f32[$0]\n", kBlock) : "",
        kBlock / 16, expression, mode);
    const auto program = loops::ParseProgram(text);
    EXPECT_THAT(program, testing::IsOk()) << text;
    const auto object = CompileProgram(*program, "math");
    EXPECT_THAT(object, testing::IsOk());
    object_ = *LoadedObject::Create(*object);
    entry_ = *object_->Entry("math");
  }

  void operator()(const std::vector<float>& a, const std::vector<float>& b,
                  std::vector<float>& y) const {
    const void* arguments[] = {a.data(), b.data()};
    void* results[] = {y.data()};
    ASSERT_EQ(entry_(nullptr, arguments, results), HONE_OK);
  }

 private:
  std::unique_ptr<LoadedObject> object_;
  EntryFunction entry_ = nullptr;
};

// Distance from the true value in units in the last place of the nearest f32;
// infinite where one is special and the other is not.
double Error(double expected, float actual) {
  const auto nearest = static_cast<float>(expected);
  if (std::isnan(nearest) || std::isnan(actual)) {
    return std::isnan(nearest) == std::isnan(actual) ? 0 : INFINITY;
  }
  if (nearest == actual) {
    return nearest != 0 || std::signbit(nearest) == std::signbit(actual)
               ? 0
               : INFINITY;
  }
  // Overflow may come one step early or late.
  if (std::isinf(nearest)) return std::abs(actual) >= 3.4028234e38f ? 1 : 1e9;
  if (std::isinf(actual)) return std::abs(nearest) >= 3.4028234e38f ? 1 : 1e9;
  const int exponent =
      std::max(-126, nearest == 0 ? -126 : std::ilogb(nearest));
  return std::abs(expected - static_cast<double>(actual)) /
         std::ldexp(1.0, exponent - 23);
}

void RecordError(const std::string& name, double error) {
  ::testing::Test::RecordProperty(name.substr(0, name.find('(')),
                                  std::to_string(error));
}

// The largest error of `expression` in a over floats of absolute value up to
// `largest`, infinities and NaN too.
void ExpectAccurate(const std::string& expression, double (*exact)(double),
                    double max_error, float largest = INFINITY) {
  const NativeFunction function(expression, 1);
  std::vector<float> x(kBlock);
  std::vector<float> y(kBlock);
  double worst = 0;
  float where = 0;
  uint64_t bits = 0;
  while (bits <= UINT32_MAX) {
    size_t n = 0;
    for (; n < x.size() && bits <= UINT32_MAX; bits += kStep) {
      const auto value = std::bit_cast<float>(static_cast<uint32_t>(bits));
      if (std::isnan(value) || std::abs(value) <= largest) x[n++] = value;
    }
    // The last block is filled with what is special.
    for (size_t i = n; i < x.size(); ++i) {
      constexpr float kSpecial[] = {0.0f,   -0.0f,   INFINITY, -INFINITY,
                                    1e-45f, -1e-45f, 1.0f,     -1.0f};
      x[i] = kSpecial[i % std::size(kSpecial)];
    }
    function(x, {}, y);
    for (size_t i = 0; i < x.size(); ++i) {
      const double error = Error(exact(static_cast<double>(x[i])), y[i]);
      if (error > worst) {
        worst = error;
        where = x[i];
      }
    }
  }
  RecordError(expression, worst);
  EXPECT_LE(worst, max_error) << expression << " at " << where;
}

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }
double Rsqrt(double x) { return 1 / std::sqrt(x); }

TEST(VectorMathTest, Exponential) {
  ExpectAccurate("exponential(a[16*i+v])", std::exp, 1.1);
  ExpectAccurate("exponential_minus_one(a[16*i+v])", std::expm1, 1.6);
}

TEST(VectorMathTest, LanesAndScalarsGetTheSameBits) {
  // Down to denormal results, up to infinite ones, and past both ends.
  const NativeFunction lanes("exponential(a[16*i+v])", 1);
  const NativeFunction scalars("exponential(a[16*i+v])", 1, "unrolled");
  std::vector<float> x(kBlock);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = -110.0F + 0.05F * static_cast<float>(i);
  }
  x[0] = NAN;
  x[1] = INFINITY;
  x[2] = -INFINITY;
  x[3] = -0.0F;
  x[4] = 1e-45F;
  std::vector<float> y(kBlock);
  std::vector<float> z(kBlock);
  lanes(x, {}, y);
  scalars(x, {}, z);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(std::bit_cast<uint32_t>(y[i]), std::bit_cast<uint32_t>(z[i]))
        << x[i];
  }
}

// Vectors of which the last is not full, and scalars.
TEST(VectorMathTest, ErfHasTheSameBitsInVectorsOfAnyWidth) {
  const NativeFunction lanes("erf(a[16*i+v])", 1);
  const NativeFunction scalars("erf(a[16*i+v])", 1, "unrolled");
  const auto program = loops::ParseProgram(
      "kernel math\nargument a f32[4096]\nresult y f32[4096]\n"
      "for i 178\n| for v 23 vector\n| | y[23*i+v] = erf(a[23*i+v])\n"
      "for v 2 vector\n| y[4094+v] = erf(a[4094+v])\n");
  ASSERT_THAT(program, testing::IsOk());
  const auto object = CompileProgram(*program, "math");
  ASSERT_THAT(object, testing::IsOk());
  const auto loaded = LoadedObject::Create(*object);
  ASSERT_THAT(loaded, testing::IsOk());
  std::vector<float> x(kBlock);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = -5.0F + 0.0025F * static_cast<float>(i);
  }
  x[0] = NAN;
  x[1] = INFINITY;
  x[2] = -0.0F;
  std::vector<float> y(kBlock);
  std::vector<float> z(kBlock);
  std::vector<float> odd(kBlock);
  lanes(x, {}, y);
  scalars(x, {}, z);
  const void* arguments[] = {x.data()};
  void* results[] = {odd.data()};
  ASSERT_EQ((*(*loaded)->Entry("math"))(nullptr, arguments, results), HONE_OK);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(std::bit_cast<uint32_t>(y[i]), std::bit_cast<uint32_t>(z[i]))
        << x[i];
    EXPECT_EQ(std::bit_cast<uint32_t>(y[i]), std::bit_cast<uint32_t>(odd[i]))
        << x[i];
  }
}

TEST(VectorMathTest, ErfReachesOneAndStaysThere) {
  const NativeFunction function("erf(a[16*i+v])", 1);
  std::vector<float> x(kBlock);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = 3.0F + 0.0005F * static_cast<float>(i);
  }
  x[0] = INFINITY;
  x[1] = 3.4e38F;
  std::vector<float> y(kBlock);
  function(x, {}, y);
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] >= 4.0F) {
      EXPECT_EQ(y[i], 1.0F) << x[i];
    }
    EXPECT_LE(y[i], 1.0F) << x[i];
  }
}

TEST(VectorMathTest, Logarithm) {
  ExpectAccurate("log(a[16*i+v])", std::log, 0.8);
  ExpectAccurate("log_plus_one(a[16*i+v])", std::log1p, 1.5);
}

TEST(VectorMathTest, Sigmoids) {
  ExpectAccurate("tanh(a[16*i+v])", std::tanh, 2.5);
  ExpectAccurate("erf(a[16*i+v])", std::erf, 3.0);
  // Below, exp(-x) overflows as it does in the formula by which the function is
  // defined.
  ExpectAccurate("logistic(a[16*i+v])", Logistic, 2.3, 88.0f);
}

TEST(VectorMathTest, Trigonometry) {
  ExpectAccurate("sine(a[16*i+v])", std::sin, 1.6, 0x1p30f);
  ExpectAccurate("cosine(a[16*i+v])", std::cos, 1.6, 0x1p30f);
}

TEST(VectorMathTest, Roots) {
  ExpectAccurate("sqrt(a[16*i+v])", std::sqrt, 0.5);
  ExpectAccurate("rsqrt(a[16*i+v])", Rsqrt, 1.5);
  ExpectAccurate("cbrt(a[16*i+v])", std::cbrt, 1.0);
}

TEST(VectorMathTest, Power) {
  const NativeFunction function("power(a[16*i+v], b[16*i+v])", 2);
  std::vector<float> exponents = {0.0f,  -0.0f, 0.5f,     -0.5f,     1.0f,
                                  -1.0f, 2.0f,  3.0f,     -3.0f,     7.5f,
                                  0.1f,  33.0f, 1e10f,    -1e10f,    1e-10f,
                                  64.0f, -7.0f, INFINITY, -INFINITY, NAN};
  std::vector<float> x(kBlock);
  std::vector<float> y(kBlock);
  std::vector<float> z(kBlock);
  double worst = 0;
  for (uint64_t bits = 0; bits <= UINT32_MAX;) {
    for (size_t i = 0; i < x.size(); ++i, bits += kStep) {
      x[i] = std::bit_cast<float>(static_cast<uint32_t>(bits));
      if (i % 9 == 0) x[i] = std::abs(x[i]) < 1 ? 1.0f : -1.0f;
      if (i % 31 == 0) x[i] = std::copysign(0.0f, x[i]);
      y[i] = exponents[i % exponents.size()];
    }
    function(x, y, z);
    for (size_t i = 0; i < x.size(); ++i) {
      const double exact =
          std::pow(static_cast<double>(x[i]), static_cast<double>(y[i]));
      const double error = Error(exact, z[i]);
      ASSERT_LE(error, 0.51) << x[i] << " to the power of " << y[i];
      worst = std::max(worst, error);
    }
  }
  RecordError("power", worst);
}

}  // namespace
}  // namespace hone::backends
