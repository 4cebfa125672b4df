#ifndef HONE_BACKENDS_CPU_KERNEL_BENCH_H_
#define HONE_BACKENDS_CPU_KERNEL_BENCH_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "backends/kernel_measurer.h"
#include "hlo/ir/module.h"

namespace hone::backends {

struct KernelBenchOptions {
  // Of parallel scopes; one thread is pinned to a core.
  int32_t threads = 1;
  // Of the arguments and the order of samples.
  uint64_t seed = 0;
  // Pairs of samples per candidate.
  int32_t pairs = 11;
  // Of one candidate, compilation, check and timing included.
  absl::Duration timeout = absl::Seconds(10);
};

// Checks and times schedules of one kernel, each in a child process of its own,
// against one of them, the baseline. Schedules are scripts of the loop language
// (loops/transforms/script.h) for the program that loops::LowerToProgram makes
// of the module.
//
// It forks: use it in a process that has no threads.
class KernelBench {
 public:
  virtual ~KernelBench() = default;

  // Evaluates the module for the results to expect, and compiles the baseline.
  // Errors: those of lowering and evaluating; InvalidArgument when the
  // baseline's script cannot be applied; Internal when it does not compile, or
  // computes something else.
  static absl::StatusOr<std::unique_ptr<KernelBench>> Create(
      const hlo::Module& module, const std::string& baseline_script,
      const KernelBenchOptions& options);

  // The baseline against itself: its times, and how far noise alone goes.
  virtual KernelTiming MeasureBaseline() = 0;
  virtual KernelTiming Measure(const std::string& script) = 0;
};

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_KERNEL_BENCH_H_
