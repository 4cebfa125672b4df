#ifndef HONE_BACKENDS_CPU_MEASURE_KERNEL_BENCH_H_
#define HONE_BACKENDS_CPU_MEASURE_KERNEL_BENCH_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "backends/kernel_measurer.h"
#include "hlo/ir/module.h"

namespace hone::backends {

struct KernelBenchOptions {
  // The number of threads of parallel loops; a single thread is pinned to a
  // core.
  int32_t threads = 1;
  // The seed of the arguments and of the order of samples.
  uint64_t seed = 0;
  // The number of pairs of samples per candidate.
  int32_t pairs = 11;
  // The time limit of one candidate: compilation, check and timing.
  absl::Duration timeout = absl::Seconds(10);
};

// Checks schedules of one kernel and times them against a baseline schedule,
// each in a child process of its own. Schedules are scripts
// (loops/transforms/script.h) for the program that loops::LowerToProgram makes
// of the module.
//
// Forks: use it only in a process without threads.
class KernelBench {
 public:
  virtual ~KernelBench() = default;

  // Evaluates the module for the expected results, and compiles the baseline.
  // Errors: those of lowering and evaluation; InvalidArgument if the baseline's
  // script cannot be applied; Internal if it does not compile or gives a wrong
  // result.
  static absl::StatusOr<std::unique_ptr<KernelBench>> Create(
      const hlo::Module& module, const std::string& baseline_script,
      const KernelBenchOptions& options);

  // Times the baseline against itself, which also shows the noise.
  virtual KernelTiming MeasureBaseline() = 0;
  // Checks one schedule and times it against the baseline.
  virtual KernelTiming Measure(const std::string& script) = 0;
};

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_MEASURE_KERNEL_BENCH_H_
