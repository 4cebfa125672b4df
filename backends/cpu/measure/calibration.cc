#include "backends/cpu/measure/calibration.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"

#include "backends/cpu/compiler.h"
#include "backends/cpu/host.h"
#include "backends/cpu/kernel_runtime.h"
#include "backends/cpu/loaded_object.h"
#include "backends/cpu/measure/placed_arrays.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "loops/text/text.h"

namespace hone::backends {
namespace {

// Enough independent sums to hide the latency of an addition.
constexpr int64_t kAccumulators = 8;
// The minimum duration of a timed run, and the number of runs, of which the
// fastest counts, since the result is a limit.
constexpr absl::Duration kRun = absl::Milliseconds(4);
constexpr int kRuns = 5;

// Denser around the sizes of L3 caches.
constexpr int64_t kSizes[] = {int64_t{16} << 10,  int64_t{128} << 10,
                              int64_t{512} << 10, int64_t{2} << 20,
                              int64_t{4} << 20,   int64_t{8} << 20,
                              int64_t{16} << 20,  int64_t{32} << 20,
                              int64_t{64} << 20,  int64_t{256} << 20};

struct Kernel {
  std::unique_ptr<LoadedObject> object;
  EntryFunction run = nullptr;
};

absl::StatusOr<Kernel> Compile(const std::string& text) {
  HONE_ASSIGN_OR_RETURN(const loops::Program program,
                        loops::ParseProgram(text));
  HONE_ASSIGN_OR_RETURN(const std::string object,
                        CompileProgram(program, "calibration"));
  Kernel kernel;
  HONE_ASSIGN_OR_RETURN(kernel.object, LoadedObject::Create(object));
  HONE_ASSIGN_OR_RETURN(kernel.run, kernel.object->Entry("calibration"));
  return kernel;
}

// Returns the time of the fastest call, in nanoseconds.
double Fastest(const Kernel& kernel, const float* from, float* to) {
  // Some kernels take the same array twice.
  const void* const arguments[] = {from, from};
  void* const results[] = {to};
  const Clock& clock = SystemClock();
  kernel.run(nullptr, arguments, results);
  double fastest = INFINITY;
  for (int run = 0; run < kRuns; ++run) {
    const absl::Duration start = clock.Monotonic();
    absl::Duration spent;
    int64_t calls = 0;
    do {
      kernel.run(nullptr, arguments, results);
      ++calls;
      spent = clock.Monotonic() - start;
    } while (spent < kRun);
    fastest = std::min(
        fastest, absl::ToDoubleNanoseconds(spent) / static_cast<double>(calls));
  }
  return fastest;
}

// $0 threads, $1 steps, $2 accumulators, $3 lanes, $4 type.
constexpr char kPeak[] = R"(kernel peak
argument x $4[$3]
result y $4[$0,$2,$3]
for i0 $0 parallel
| local s $4[$2,$3] register
| for i1 $2 unrolled
| | for i2 $3 vector
| | | s[i1,i2] = x[i2]
| for i1 $1
| | for i2 $2 unrolled
| | | for i3 $3 vector
| | | | s[i2,i3] = s[i2,i3] * x[i3] + x[i3]
| for i1 $2 unrolled
| | for i2 $3 vector
| | | y[i0,i1,i2] = s[i1,i2]
)";

// $4 and $5 are the types of the factors, $6 that of the sums, $7 the number of
// products in a sum of adjacent ones, $8 their sum.
constexpr char kDotPeak[] = R"(kernel dot_peak
argument a $4[$3,$7]
argument b $5[$3,$7]
result y $6[$0,$2,$3]
for i0 $0 parallel
| local s $6[$2,$3] register
| for i1 $2 unrolled
| | for i2 $3 vector
| | | s[i1,i2] = $6(0)
| for i1 $1
| | for i2 $2 unrolled
| | | for i3 $3 vector
| | | | s[i2,i3] += $8
| for i1 $2 unrolled
| | for i2 $3 vector
| | | y[i0,i1,i2] = s[i1,i2]
)";

constexpr char kRead[] = R"(kernel read
argument x f32[$0,$1,$2,$3]
result y f32[$0,$2,$3]
for i0 $0 parallel
| local s f32[$2,$3] register
| for i1 $2 unrolled
| | for i2 $3 vector
| | | s[i1,i2] = 0.0
| for i1 $1
| | for i2 $2 unrolled
| | | for i3 $3 vector
| | | | s[i2,i3] += x[i0,i1,i2,i3]
| for i1 $2 unrolled
| | for i2 $3 vector
| | | y[i0,i1,i2] = s[i1,i2]
)";

// $4: empty, or the keyword of non-temporal stores.
constexpr char kCopy[] = R"(kernel copy
argument x f32[$0,$1,$2,$3]
result y f32[$0,$1,$2,$3]
for i0 $0 parallel
| for i1 $1
| | for i2 $2 unrolled
| | | for i3 $3 vector
| | | | y[i0,i1,i2,i3] = x[i0,i1,i2,i3]$4
)";

// Measures the rates of arithmetic of all threads together.
class Peaks {
 public:
  Peaks(int32_t threads, const float* from, float* to)
      : threads_(threads), from_(from), to_(to) {
    const loops::Machine& machine = DetectHost().machine;
    vector_bytes_ = machine.vector_bytes;
    // Leaves two registers for the factor and temporaries.
    accumulators_ = std::min<int64_t>(machine.vector_registers - 2, 14);
  }

  // Returns the rate of multiply-adds of a type of so many bytes.
  absl::StatusOr<double> MultiplyAdds(const char* type, int64_t width) const {
    const int64_t lanes = vector_bytes_ / width;
    return Gflops(
        absl::Substitute(kPeak, threads_, kSteps, accumulators_, lanes, type),
        lanes);
  }

  // Returns the rate of sums of so many products of adjacent elements, of which
  // a vector of 32-bit sums has one in each lane.
  absl::StatusOr<double> Dots(const char* a, const char* b, const char* sum,
                              int64_t products) const {
    const int64_t lanes = vector_bytes_ / 4;
    std::vector<std::string> terms;
    for (int64_t i = 0; i < products; ++i) {
      terms.push_back(absl::Substitute(
          "convert($0, a[i3,$1]) * convert($0, b[i3,$1])", sum, i));
    }
    return Gflops(
        absl::Substitute(kDotPeak, threads_, kSteps, accumulators_, lanes, a, b,
                         sum, products, absl::StrJoin(terms, " + ")),
        lanes * products);
  }

 private:
  static constexpr int64_t kSteps = 20'000;

  absl::StatusOr<double> Gflops(const std::string& text,
                                int64_t products) const {
    HONE_ASSIGN_OR_RETURN(const Kernel kernel, Compile(text));
    return static_cast<double>(2 * threads_ * kSteps * accumulators_ *
                               products) /
           Fastest(kernel, from_, to_);
  }

  const int32_t threads_;
  const float* const from_;
  float* const to_;
  int64_t vector_bytes_ = 0;
  int64_t accumulators_ = 0;
};

absl::Status MeasurePeaks(const Peaks& peaks, Calibration& calibration) {
  HONE_ASSIGN_OR_RETURN(calibration.peak_gflops, peaks.MultiplyAdds("f32", 4));
  HONE_ASSIGN_OR_RETURN(calibration.f64_gflops, peaks.MultiplyAdds("f64", 8));
  // Without instructions for dots, code converts the elements.
  struct DotPeak {
    const char* a;
    const char* b;
    const char* sum;
    int64_t products;
    double Calibration::*rate;
  };
  constexpr DotPeak kDots[] = {
      {"bf16", "bf16", "f32", 2, &Calibration::bf16_dot_gflops},
      {"s16", "s16", "s32", 2, &Calibration::s16_dot_gflops},
      {"u8", "s8", "s32", 4, &Calibration::s8_dot_gflops}};
  for (const DotPeak& dot : kDots) {
    HONE_ASSIGN_OR_RETURN(const double rate,
                          peaks.Dots(dot.a, dot.b, dot.sum, dot.products));
    calibration.*dot.rate = std::max(rate, calibration.peak_gflops);
  }
  // Bytes can be extended to 16 bits.
  calibration.s8_dot_gflops =
      std::max(calibration.s8_dot_gflops, calibration.s16_dot_gflops);
  return absl::OkStatus();
}

absl::StatusOr<Calibration::Level> MeasureLevel(int64_t bytes, int64_t threads,
                                                int64_t lanes,
                                                const float* from, float* to) {
  const auto text = [&](const char* program, int64_t working_set,
                        const char* stores) {
    const int64_t steps = std::max<int64_t>(
        1, working_set / (4 * threads * kAccumulators * lanes));
    return absl::Substitute(program, threads, steps, kAccumulators, lanes,
                            stores);
  };
  Calibration::Level level;
  level.bytes = bytes;
  HONE_ASSIGN_OR_RETURN(const Kernel read, Compile(text(kRead, bytes, "")));
  level.read_gbps = static_cast<double>(bytes) / Fastest(read, from, to);
  for (const char* stores : {"", " nontemporal"}) {
    HONE_ASSIGN_OR_RETURN(const Kernel copy,
                          Compile(text(kCopy, bytes / 2, stores)));
    level.copy_gbps = std::max(
        level.copy_gbps, static_cast<double>(bytes) / Fastest(copy, from, to));
  }
  return level;
}

}  // namespace

absl::StatusOr<Calibration> Calibrate(int32_t threads) {
  const loops::Machine& machine = DetectHost().machine;
  const int64_t lanes = machine.vector_bytes / 4;
  const int64_t largest =
      *std::max_element(std::begin(kSizes), std::end(kSizes));
  HONE_ASSIGN_OR_RETURN(const auto placed,
                        PlacedArrays::Create({largest, largest}));
  auto* const from = reinterpret_cast<float*>(placed->arrays()[0]);
  auto* const to = reinterpret_cast<float*>(placed->arrays()[1]);
  std::fill_n(from, largest / 4, 0.5f);
  std::fill_n(to, largest / 4, 0.0f);

  const int32_t threads_before = hone_kernel_threads();
  hone_kernel_set_threads(threads);
  const auto measure = [&]() -> absl::StatusOr<Calibration> {
    Calibration calibration;
    calibration.threads = threads;
    HONE_RETURN_IF_ERROR(MeasurePeaks(Peaks(threads, from, to), calibration));
    for (int64_t bytes : kSizes) {
      HONE_ASSIGN_OR_RETURN(Calibration::Level level,
                            MeasureLevel(bytes, threads, lanes, from, to));
      calibration.levels.push_back(level);
    }
    return calibration;
  };
  absl::StatusOr<Calibration> calibration = measure();
  hone_kernel_set_threads(threads_before);
  return calibration;
}

}  // namespace hone::backends
