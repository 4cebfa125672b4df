#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

extern "C" {
#include "backends/cpu/library/fft_lines.h"
}
#include "backends/cpu/library/library.h"
#include "backends/cpu/native_module.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using Complex = std::complex<double>;

enum Kind : int64_t { kForward, kInverse, kFromReal, kToReal };

// By the definition; `sign` is that of the exponent.
std::vector<Complex> Transform(const std::vector<Complex>& x, double sign) {
  const size_t n = x.size();
  std::vector<Complex> roots;
  for (size_t k = 0; k < n; ++k) {
    roots.push_back(
        std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(k) /
                            static_cast<double>(n)));
  }
  std::vector<Complex> result(n);
  for (size_t k = 0; k < n; ++k) {
    for (size_t j = 0; j < n; ++j) result[k] += x[j] * roots[j * k % n];
  }
  return result;
}

// Calls hone_fft on `lines` random lines and compares with the definition.
template <typename T>
void CheckLines(int64_t n, int64_t lines, Kind kind) {
  SCOPED_TRACE(absl::StrCat("length ", n, ", lines ", lines, ", kind ", kind));
  const size_t size = static_cast<size_t>(n);
  const size_t half = size / 2 + 1;
  const size_t from_size = kind == kToReal ? half : size;
  const size_t to_size = kind == kFromReal ? half : size;
  const size_t count = static_cast<size_t>(lines);
  std::mt19937_64 random(static_cast<uint64_t>(n * 100 + lines));
  std::normal_distribution<double> normal;
  std::vector<T> re(from_size * count);
  std::vector<T> im(from_size * count);
  for (T& x : re) x = static_cast<T>(normal(random));
  for (T& x : im) x = static_cast<T>(normal(random));
  std::vector<T> to_re(to_size * count);
  std::vector<T> to_im(to_size * count);
  const int64_t attributes[] = {sizeof(T) == 4 ? 0 : 1, kind, lines, 1, n};
  const void* arguments[] = {re.data(), im.data()};
  void* results[] = {to_re.data(), to_im.data()};
  hone_fft(attributes, arguments, results);
  double error = 0;
  double square = 0;
  for (size_t line = 0; line < count; ++line) {
    std::vector<Complex> x(size);
    for (size_t j = 0; j < from_size; ++j) {
      const size_t at = line * from_size + j;
      x[j] = kind == kFromReal ? Complex(static_cast<double>(re[at]))
                               : Complex(static_cast<double>(re[at]),
                                         static_cast<double>(im[at]));
    }
    if (kind == kToReal) {
      // The imaginary parts of numbers that are their own conjugates are not
      // read.
      x[0] = x[0].real();
      if (n % 2 == 0) x[half - 1] = x[half - 1].real();
      for (size_t j = half; j < size; ++j) x[j] = std::conj(x[size - j]);
    }
    const bool is_inverse = kind == kInverse || kind == kToReal;
    std::vector<Complex> expected = Transform(x, is_inverse ? 1 : -1);
    for (size_t k = 0; k < to_size; ++k) {
      if (is_inverse) expected[k] /= static_cast<double>(n);
      const size_t at = line * to_size + k;
      const Complex actual(
          static_cast<double>(to_re[at]),
          kind == kToReal ? 0 : static_cast<double>(to_im[at]));
      error = std::max(error, std::abs(actual - expected[k]));
      square += std::norm(expected[k]);
    }
  }
  const double size_of_results =
      std::sqrt(square / static_cast<double>(to_size * count));
  EXPECT_LE(error, size_of_results * (sizeof(T) == 4 ? 2e-6 : 2e-14));
}

// Every radix, products of them, primes for Bluestein's algorithm, and lines
// that are long enough for four steps.
TEST(Fft, IsTheDefinitionForEveryLength) {
  std::vector<int64_t> lengths;
  for (int64_t n = 1; n <= 40; ++n) lengths.push_back(n);
  for (int64_t n : {64, 77, 97, 210, 256, 257, 289, 514}) {
    lengths.push_back(n);
  }
  for (int64_t n : lengths) {
    for (Kind kind : {kForward, kInverse, kFromReal, kToReal}) {
      for (int64_t lines : {1, 19}) {
        CheckLines<float>(n, lines, kind);
        CheckLines<double>(n, lines, kind);
      }
    }
  }
}

// The code for other vector widths than this machine's.
template <typename T>
void CheckKernels(const FftKernels& kernels) {
  for (int64_t n : {1, 2, 9, 16, 30, 37, 64, 80}) {
    for (int64_t lines : {1, 5, 19}) {
      SCOPED_TRACE(absl::StrCat("vectors of ", kernels.vector, ", length ", n,
                                ", lines ", lines));
      const size_t count = static_cast<size_t>(n * lines);
      const size_t half = static_cast<size_t>((n / 2 + 1) * lines);
      std::vector<T> x(count);
      for (size_t i = 0; i < count; ++i) {
        x[i] = static_cast<T>(std::sin(static_cast<double>(i * i % 97)));
      }
      std::vector<T> re(half);
      std::vector<T> im(half);
      const FftPlan* plan = hone_fft_plan(n % 2 == 0 ? n / 2 : n, sizeof(T));
      FftJob job = {};
      job.plan = plan;
      job.n = n;
      job.scale = 1;
      job.groups = 1;
      job.lanes = lines;
      const int64_t blocks = (lines + kernels.vector - 1) / kernels.vector;
      job.kind = kFftFromReal;
      job.from = {x.data(), nullptr, 0, n, 1};
      job.to = {re.data(), im.data(), 0, n / 2 + 1, 1};
      kernels.run(&job, 0, blocks);
      std::vector<T> expected_re(half);
      std::vector<T> expected_im(half);
      const int64_t attributes[] = {sizeof(T) == 4 ? 0 : 1, kFromReal, lines, 1,
                                    n};
      const void* arguments[] = {x.data()};
      void* results[] = {expected_re.data(), expected_im.data()};
      hone_fft(attributes, arguments, results);
      const double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-13;
      for (size_t i = 0; i < half; ++i) {
        EXPECT_NEAR(re[i], expected_re[i], tolerance);
        EXPECT_NEAR(im[i], expected_im[i], tolerance);
      }
      job.kind = kFftToReal;
      job.scale = 1 / static_cast<double>(n);
      job.from = {re.data(), im.data(), 0, n / 2 + 1, 1};
      std::vector<T> back(count);
      job.to = {back.data(), nullptr, 0, n, 1};
      kernels.run(&job, 0, blocks);
      for (size_t i = 0; i < count; ++i) {
        EXPECT_NEAR(back[i], x[i], tolerance);
      }
    }
  }
}

TEST(Fft, OfEveryVectorWidth) {
  CheckKernels<float>(hone_fft_f32_baseline);
  CheckKernels<double>(hone_fft_f64_baseline);
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    CheckKernels<float>(hone_fft_f32_avx2);
    CheckKernels<double>(hone_fft_f64_avx2);
  }
#endif
}

TEST(Fft, OfNothing) {
  const int64_t attributes[] = {0, kForward, 0, 1, 8};
  const void* arguments[] = {nullptr, nullptr};
  void* results[] = {nullptr, nullptr};
  hone_fft(attributes, arguments, results);
}

// The module's result, natively and by the evaluator.
void CheckModule(const std::string& text) {
  SCOPED_TRACE(text);
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module, hlo::ParseHloText(text));
  const std::vector<hlo::Literal> arguments =
      hlo::RandomArguments(module, 1).value();
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Literal expected,
                            hlo::Evaluate(module, arguments));
  HONE_ASSERT_OK_AND_ASSIGN(const auto native, NativeModule::Create(module, 2));
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Literal result, native->Run(arguments));
  const hlo::Comparison comparison = hlo::CompareLiterals(expected, result);
  EXPECT_TRUE(comparison.equal)
      << "element " << comparison.worst.element << ": " << comparison.worst.b
      << ", expected " << comparison.worst.a;
}

TEST(Fft, OfSeveralDimensions) {
  const std::vector<std::vector<int64_t>> all_lengths = {
      {6}, {4, 10}, {3, 5, 7}, {2, 1, 8}, {17, 16}};
  for (const std::vector<int64_t>& lengths : all_lengths) {
    for (const char* type : {"FFT", "IFFT", "RFFT", "IRFFT"}) {
      const std::string kind = type;
      std::vector<int64_t> half = lengths;
      half.back() = half.back() / 2 + 1;
      const auto shape = [&](bool is_real, bool is_half) {
        return absl::StrCat(is_real ? "f64" : "c128", "[2,",
                            absl::StrJoin(is_half ? half : lengths, ","), "]");
      };
      const std::string from = shape(kind == "RFFT", kind == "IRFFT");
      const std::string to = shape(kind == "IRFFT", kind == "RFFT");
      CheckModule(absl::StrCat(
          "HloModule m\nENTRY e {\n  x = ", from, " parameter(0)\n  y = ", from,
          " negate(x)\n  ROOT r = ", to, " fft(y), fft_type=", kind,
          ", fft_length={", absl::StrJoin(lengths, ","), "}\n}\n"));
    }
  }
}

// Along dimensions with few elements inside and many outside.
TEST(Fft, OfShortRows) {
  CheckModule(R"(HloModule m
ENTRY e {
  x = c64[21,10,3] parameter(0)
  ROOT r = c64[21,10,3] fft(x), fft_type=FFT, fft_length={10,3}
})");
}

// A result that is read as complex numbers and written with interleaved parts.
TEST(Fft, BetweenKernels) {
  CheckModule(R"(HloModule m
ENTRY e {
  x = f32[3,64] parameter(0)
  k = c64[33] parameter(1)
  f = c64[3,33] fft(x), fft_type=RFFT, fft_length={64}
  b = c64[3,33] broadcast(k), dimensions={1}
  p = c64[3,33] multiply(f, b)
  y = f32[3,64] fft(p), fft_type=IRFFT, fft_length={64}
  ROOT r = (f32[3,64], c64[3,33]) tuple(y, p)
})");
}

}  // namespace
}  // namespace hone::backends
