#include "backends/cpu/measure/calibration.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "absl/strings/str_format.h"
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
  const void* const arguments[] = {from};
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

// $0 threads, $1 steps, $2 accumulators, $3 lanes.
constexpr char kPeak[] = R"(kernel peak
argument x f32[$3]
result y f32[$0,$2,$3]
for i0 $0 parallel
| local s f32[$2,$3] register
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

absl::StatusOr<double> PeakGflops(int64_t threads, int64_t lanes,
                                  int64_t registers, const float* ones,
                                  float* results) {
  constexpr int64_t kSteps = 20'000;
  // Leaves two registers for the factor and temporaries.
  const int64_t accumulators = std::min<int64_t>(registers - 2, 14);
  HONE_ASSIGN_OR_RETURN(
      const Kernel kernel,
      Compile(absl::Substitute(kPeak, threads, kSteps, accumulators, lanes)));
  return static_cast<double>(2 * threads * kSteps * accumulators * lanes) /
         Fastest(kernel, ones, results);
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
    HONE_ASSIGN_OR_RETURN(
        calibration.peak_gflops,
        PeakGflops(threads, lanes, machine.vector_registers, from, to));
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
