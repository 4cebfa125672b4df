#include "loops/lowering/kernel/winograd.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/ir/literal.h"
#include "loops/interpreter/interpreter.h"
#include "loops/ir/rewrite.h"
#include "loops/lowering/lowering.h"
#include "tests/loops/lowering/lowered.h"
#include "tests/loops/lowering/schedules_right.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

// Winograd's algorithm is what has transformed weights.
bool IsWinograd(const Program& program) {
  return absl::c_any_of(program.buffers(), [](const BufferPtr& buffer) {
    return buffer->dimensions.size() == 3 && buffer->dimensions[0] == 16 &&
           buffer->IsLocal();
  });
}

bool IsWinograd(const std::string& body) {
  const absl::StatusOr<Program> program =
      LowerToProgram(ParseModule(ModuleText(body)));
  HONE_EXPECT_OK(program);
  return program.ok() && IsWinograd(*program);
}

// Odd images, one and several blocks, all paddings.
TEST(Winograd, ImagesOfAnySizeAndPadding) {
  const std::array<const char*, 4> cases[] = {
      {"1,11,12,32", "1,11,12,32", "1_1x1_1", "3,3,32,32"},
      {"2,13,9,32", "2,11,10,32", "0_0x1_2", "3,3,32,32"},
      {"1,9,11,40", "1,12,11,29", "3_2x2_0", "3,3,40,29"},
      {"1,4,97,29", "1,4,97,37", "1_1x1_1", "3,3,29,37"},
  };
  for (const auto& [input, output, padding, weights] : cases) {
    SCOPED_TRACE(input);
    EXPECT_TRUE(IsWinograd(ExpectLowersRight(ModuleText(absl::Substitute(
        R"(
  x = f32[$0] parameter(0)
  w = f32[$1] parameter(1)
  ROOT c = f32[$2] convolution(x, w), window={size=3x3 pad=$3}, dim_labels=b01f_01io->b01f)",
        input, weights, output, padding)))));
  }
}

// NCHW, labels of no framework, and an epilogue.
TEST(Winograd, OtherLabels) {
  EXPECT_TRUE(IsWinograd(ExpectLowersRight(ModuleText(R"(
  x = f32[1,32,11,12] parameter(0)
  w = f32[33,32,3,3] parameter(1)
  ROOT c = f32[1,33,11,12] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01)"))));
  EXPECT_TRUE(IsWinograd(ExpectLowersRight(ModuleText(R"(
  x = f32[32,11,2,10] parameter(0)
  w = f32[3,33,3,32] parameter(1)
  b = f32[33] parameter(2)
  c = f32[11,33,2,10] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=f0b1_0o1i->0fb1
  a = f32[11,33,2,10] broadcast(b), dimensions={1}
  ROOT s = f32[11,33,2,10] add(c, a))"))));
}

// The gradient of a convolution's input.
TEST(Winograd, ReversedWindows) {
  for (const char* reversal : {"1x1", "0x1"}) {
    EXPECT_TRUE(IsWinograd(ExpectLowersRight(ModuleText(absl::Substitute(
        R"(
  g = f32[1,11,12,32] parameter(0)
  w = f32[3,3,33,32] parameter(1)
  ROOT c = f32[1,11,12,33] convolution(g, w), window={size=3x3 pad=1_1x1_1 rhs_reversal=$0}, dim_labels=b01f_01oi->b01f)",
        reversal)))));
  }
}

// Loads of adjacent input features become transposes of vectors, whose code is
// large.
TEST(Winograd, WeightsAreTransposedByOneLoad) {
  const absl::StatusOr<Program> program =
      LowerToProgram(ParseModule(ModuleText(R"(
  g = f32[1,11,12,32] parameter(0)
  w = f32[3,3,32,32] parameter(1)
  ROOT c = f32[1,11,12,32] convolution(g, w), window={size=3x3 pad=1_1x1_1 rhs_reversal=1x1}, dim_labels=b01f_01oi->b01f)")));
  HONE_ASSERT_OK(program);
  ASSERT_TRUE(IsWinograd(*program));
  int loads = 0;
  VisitStatements(*program, {}, [&](const Path&, const Statement& st) {
    VisitLoads(*st.value, [&](const Access& access) {
      if (program->buffer(access.buffer).name == "w") ++loads;
    });
  });
  EXPECT_EQ(loads, 1);
}

TEST(Winograd, SchedulesComputeTheSame) {
  for (const char* labels : {"b01f_01io->b01f", "01bf_10oi->01fb"}) {
    SCOPED_TRACE(labels);
    const bool is_nhwc = labels[0] == 'b';
    const absl::StatusOr<Program> program =
        LowerToProgram(ParseModule(ModuleText(absl::Substitute(
            R"(
  x = f32[$0] parameter(0)
  w = f32[$1] parameter(1)
  ROOT c = f32[$2] convolution(x, w), window={size=3x3 pad=1_1x0_1}, dim_labels=$3)",
            is_nhwc ? "2,11,13,33" : "11,13,2,33",
            is_nhwc ? "3,3,33,34" : "3,3,34,33",
            is_nhwc ? "2,11,12,34" : "11,12,34,2", labels))));
    HONE_ASSERT_OK(program);
    EXPECT_TRUE(IsWinograd(*program));
    ExpectSchedulesRight(*program);
  }
}

// An infinity among the elements or the weights gives infinities, not NaN, and
// sums of tiles may overflow where those of the convolution do not.
TEST(Winograd, ResultsThatAreNotFiniteAreThoseOfDirectSums) {
  constexpr char kText[] = R"(
  p = f32[1,9,11,32] parameter(0)
  q = f32[3,3,31,32] parameter(1)
  $0
  ROOT c = f32[1,11,11,32] convolution(x, w), window={size=3x3 pad=1_2x1_1}, dim_labels=b01f_01io->b01f)";
  for (const char* operands : {R"(i = f32[] constant(-inf)
  x = f32[1,10,11,32] pad(p, i), padding=0_0x1_0x0_0x0_0
  o = f32[] constant(0)
  w = f32[3,3,32,32] pad(q, o), padding=0_0x0_0x0_1x0_0)",
                               R"(i = f32[] constant(inf)
  o = f32[] constant(0)
  x = f32[1,10,11,32] pad(p, o), padding=0_0x1_0x0_0x0_0
  w = f32[3,3,32,32] pad(q, i), padding=0_0x0_0x0_1x0_0)",
                               R"(i = f32[] constant(2e38)
  o = f32[] constant(1e-5)
  x = f32[1,10,11,32] broadcast(i), dimensions={}
  w = f32[3,3,32,32] broadcast(o), dimensions={})"}) {
    EXPECT_TRUE(IsWinograd(
        ExpectLowersRight(ModuleText(absl::Substitute(kText, operands)))));
  }
}

// The bound of winograd.h, on elements and weights of very different
// magnitudes, and on sums that cancel.
TEST(Winograd, ErrorsAreBelowTheBound) {
  constexpr int64_t kSize = 10;
  constexpr int64_t kFeatures = 32;
  const hlo::Module module = ParseModule(ModuleText(R"(
  x = f32[1,12,12,32] parameter(0)
  w = f32[3,3,32,32] parameter(1)
  ROOT c = f32[1,10,10,32] convolution(x, w), window={size=3x3}, dim_labels=b01f_01io->b01f)"));
  const absl::StatusOr<Program> program = LowerToProgram(module);
  HONE_ASSERT_OK(program);
  ASSERT_TRUE(IsWinograd(*program));
  Rng rng(1);
  for (const bool cancels : {false, true}) {
    SCOPED_TRACE(cancels);
    std::vector<hlo::Literal> arguments =
        hlo::MakeArguments(module, hlo::ArgumentKind::kRandom, 1).value();
    std::array<std::vector<float>, 2> values;
    for (size_t a = 0; a < 2; ++a) {
      auto* const data = reinterpret_cast<float*>(arguments[a].MutableData());
      for (int64_t i = 0; i < arguments[a].num_elements(); ++i) {
        const double scale = cancels ? 1 : std::exp(10 * (rng.Uniform() - 0.5));
        // Neighbors along the image have nearly the same value, and weights
        // alternating signs.
        const double sign = a == 1 && cancels && (i / 1024) % 2 == 1 ? -1 : 1;
        const double noise = cancels ? 1e-3 : 2;
        data[i] = static_cast<float>(sign * scale *
                                     (1 + noise * (rng.Uniform() - 0.5)));
        if (!cancels && rng.Uniform() < 0.5) data[i] = -data[i];
      }
      values[a].assign(data, data + arguments[a].num_elements());
    }
    const std::vector<hlo::Literal> results =
        Interpret(*program, arguments).value();
    double worst = 0;
    for (int64_t i = 0; i < kSize * kSize * kFeatures; ++i) {
      const int64_t k = i % kFeatures;
      const int64_t x = i / kFeatures % kSize;
      const int64_t y = i / kFeatures / kSize;
      double exact = 0;
      double bound = 0;
      for (int64_t c = 0; c < kFeatures; ++c) {
        const auto element = [&](int64_t row, int64_t column) {
          return static_cast<double>(values[0][static_cast<size_t>(
              (row * (kSize + 2) + column) * kFeatures + c)]);
        };
        double tile = 0;
        double weights = 0;
        for (int64_t r = 0; r < 4; ++r) {
          for (int64_t s = 0; s < 4; ++s) {
            tile += std::fabs(element(y / 2 * 2 + r, x / 2 * 2 + s));
          }
        }
        for (int64_t r = 0; r < 3; ++r) {
          for (int64_t s = 0; s < 3; ++s) {
            const double weight =
                static_cast<double>(values[1][static_cast<size_t>(
                    ((r * 3 + s) * kFeatures + c) * kFeatures + k)]);
            weights += std::fabs(weight);
            exact += element(y + r, x + s) * weight;
          }
        }
        bound += tile * weights;
      }
      bound *= 4 * (kFeatures + 10) * std::pow(2, -24);
      const double error = std::fabs(results[0].AsDouble(i) - exact);
      ASSERT_LE(error, bound);
      worst = std::max(worst, error / bound);
    }
    // Not by chance.
    EXPECT_GT(worst, 1e-5);
  }
}

TEST(Winograd, IsNotForOthers) {
  constexpr char kText[] = R"(
  x = $0[2,16,16,$1] parameter(0)
  w = $0[3,3,$2,$3] parameter(1)
  ROOT c = $0[$4,$3] convolution(x, w), window={$5}, dim_labels=b01f_01io->b01f$6)";
  const auto is_winograd = [&](const char* type, const char* channels,
                               const char* inputs, const char* outputs,
                               const char* result, const char* window,
                               const char* rest) {
    return IsWinograd(absl::Substitute(kText, type, channels, inputs, outputs,
                                       result, window, rest));
  };
  constexpr char kPlain[] = "size=3x3 pad=1_1x1_1";
  const char* const same = "2,16,16";
  EXPECT_TRUE(is_winograd("f32", "32", "32", "32", same, kPlain, ""));
  EXPECT_FALSE(is_winograd("f64", "32", "32", "32", same, kPlain, ""));
  EXPECT_FALSE(is_winograd("bf16", "32", "32", "32", same, kPlain, ""));
  EXPECT_FALSE(is_winograd("f16", "32", "32", "32", same, kPlain, ""));
  EXPECT_FALSE(is_winograd("f32", "32", "32", "32", same, kPlain,
                           ", operand_precision={highest,highest}"));
  EXPECT_FALSE(is_winograd("f32", "32", "32", "32", "2,8,8",
                           "size=3x3 stride=2x2 pad=1_1x1_1", ""));
  EXPECT_FALSE(is_winograd("f32", "32", "32", "32", same,
                           "size=3x3 pad=2_2x2_2 rhs_dilate=2x2", ""));
  EXPECT_FALSE(is_winograd("f32", "32", "32", "32", "2,31,31",
                           "size=3x3 pad=1_1x1_1 lhs_dilate=2x2", ""));
  EXPECT_FALSE(is_winograd("f32", "64", "32", "64", same, kPlain,
                           ", feature_group_count=2"));
  // Few channels, and few tiles for many weights.
  EXPECT_FALSE(is_winograd("f32", "8", "8", "256", same, kPlain, ""));
  EXPECT_FALSE(is_winograd("f32", "256", "256", "8", same, kPlain, ""));
  EXPECT_FALSE(IsWinograd(R"(
  x = f32[8,8,8,32] parameter(0)
  w = f32[3,3,32,32] parameter(1)
  ROOT c = f32[8,8,8,32] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f)"));
  // The gradient of the weights of one: the window is an image.
  EXPECT_FALSE(IsWinograd(R"(
  x = f32[32,16,16,32] parameter(0)
  g = f32[32,16,16,32] parameter(1)
  ROOT c = f32[3,3,32,32] convolution(x, g), window={size=16x16 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf)"));
}

}  // namespace
}  // namespace hone::loops
