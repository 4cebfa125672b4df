#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "backends/cpu/host.h"
#include "backends/cpu/native_module.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int64_t kBlock = 4096;
// Every so many floats are tried.
constexpr uint64_t kStep = 1009;

// erfc of kBlock numbers, as JAX expands it.
std::string ErfcText() {
  std::ifstream file(HONE_SOURCE_DIR
                     "/tests/testdata/kernels/gelu_erf_7x19.hlo");
  std::stringstream text;
  text << file.rdbuf();
  return absl::StrReplaceAll(text.str(),
                             {{"[7,19]{1,0}", "[4096]{0}"},
                              {"multiply(neg.1, mul.5)", "copy(x.1)"},
                              {"multiply(mul.7, erfc.179)", "copy(erfc.179)"}});
}

class Erfc : public ::testing::Test {
 protected:
  void SetUp() override {
    HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module,
                              hlo::ParseHloText(ErfcText()));
    HONE_ASSERT_OK_AND_ASSIGN(native_, NativeModule::Create(module, 1));
  }

  // Returns erfc of at most kBlock numbers.
  std::vector<float> Apply(const std::vector<float>& x) const {
    hlo::Literal argument(hlo::Shape::Array(hlo::ElementType::kF32, {kBlock}));
    std::copy(x.begin(), x.end(),
              reinterpret_cast<float*>(argument.MutableData()));
    const absl::StatusOr<hlo::Literal> result = native_->Run({argument});
    HONE_EXPECT_OK(result);
    const auto* y = reinterpret_cast<const float*>(result->data());
    return std::vector<float>(y, y + x.size());
  }

 private:
  std::unique_ptr<NativeModule> native_;
};

// In units in the last place: what tables in registers have, or else what the
// expansion of XLA:CPU has at most, where -x² is rounded before the
// exponential.
double LargestError(double x) {
  static const bool has_tables = DetectHost().machine.vector_bytes == 64;
  if (x < 0) return has_tables ? 1.1 : 2.1;
  if (has_tables) return 6.6;
  return x < 2 ? 5.5 : 6.0 + 0.8 * x * x;
}

TEST_F(Erfc, IsAccurateUpToTheLeastNormalNumber) {
  std::vector<float> x;
  uint64_t bits = 0;
  const auto check = [&] {
    const std::vector<float> y = Apply(x);
    for (size_t i = 0; i < x.size(); ++i) {
      const double exact = std::erfc(static_cast<double>(x[i]));
      const double unit = std::ldexp(1.0, std::ilogb(exact) - 23);
      ASSERT_LE(std::abs(static_cast<double>(y[i]) - exact) / unit,
                LargestError(static_cast<double>(x[i])))
          << x[i];
    }
    x.clear();
  };
  for (; bits <= UINT32_MAX; bits += kStep) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    // Down to the least normal number.
    if (!(value <= 9.19F)) continue;
    x.push_back(value);
    if (x.size() == kBlock) check();
  }
  check();
}

TEST_F(Erfc, HasTheLimitsOfTheFunction) {
  const std::vector<float> x = {0.0F,   -0.0F,    1e-45F,    11.0F,
                                1e20F,  3.4e38F,  kInfinity, -11.0F,
                                -1e20F, -3.4e38F, -kInfinity};
  EXPECT_EQ(Apply(x), (std::vector<float>{1, 1, 1, 0, 0, 0, 0, 2, 2, 2, 2}));
  EXPECT_TRUE(std::isnan(Apply({NAN})[0]));
}

TEST_F(Erfc, FallsThroughDenormalNumbers) {
  std::vector<float> x;
  for (float value = 9.19F; value < 10.2F; value += 0.001F) x.push_back(value);
  const std::vector<float> y = Apply(x);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_LE(std::abs(static_cast<double>(y[i]) -
                       std::erfc(static_cast<double>(x[i]))),
              1e-42 + 1e-5 * static_cast<double>(y[i]))
        << x[i];
  }
}

}  // namespace
}  // namespace hone::backends
