#ifndef HONE_BACKENDS_CPU_MEASURE_KERNEL_BENCH_H_
#define HONE_BACKENDS_CPU_MEASURE_KERNEL_BENCH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

#include "backends/kernel_measurer.h"

namespace hone::backends {

struct KernelBenchOptions {
  // The number of threads of parallel loops; a single thread is pinned to a
  // core.
  int32_t threads = 1;
  // The seed of the arguments and of the order of samples.
  uint64_t seed = 0;
  // The most pairs of samples per candidate.
  int32_t pairs = 11;
  // The time limit of a candidate's compilation and check, and that of its
  // timing.
  absl::Duration timeout = absl::Seconds(10);
  // Scatter the timed arrays (PlacedArrays::Scatter), so that a result does not
  // hang on one placement.
  bool scatter = false;
};

// Checks schedules of one kernel or module and times them against a baseline
// schedule, each in a child process of its own. KernelForm says what a schedule
// is, and what it is checked against. Results are full of NaN before, expected
// ones cannot be written, and results are compared again after timing.
//
// Forks: use it only in a process without threads.
class KernelBench {
 public:
  virtual ~KernelBench() = default;

  // Reads `text`, computes the expected results, and compiles the baseline.
  // Errors: those of reading, lowering and evaluation; InvalidArgument if the
  // baseline's script cannot be applied; Internal if it does not compile or
  // gives a wrong result.
  static absl::StatusOr<std::unique_ptr<KernelBench>> Create(
      const std::string& text, KernelForm form,
      const std::string& baseline_script, const KernelBenchOptions& options);

  // Times the baseline against itself, which also shows the noise.
  virtual KernelTiming MeasureBaseline() = 0;
  // Checks schedules and times them against the baseline, in a race against the
  // ratio `bar` (PairedTimingOptions::bar) and those before them. With a single
  // thread, the next ones are compiled and checked while one is timed, on other
  // cores.
  virtual std::vector<KernelTiming> Measure(
      absl::Span<const std::string> scripts, double bar) = 0;
};

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_MEASURE_KERNEL_BENCH_H_
