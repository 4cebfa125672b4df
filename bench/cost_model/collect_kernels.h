#ifndef HONE_BENCH_COST_MODEL_COLLECT_KERNELS_H_
#define HONE_BENCH_COST_MODEL_COLLECT_KERNELS_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "backends/kernel_measurer.h"

namespace hone::bench {

struct CollectKernelsOptions {
  // The data file. What is in it is kept, and not measured again.
  std::string output;
  // The folder of the kernel suite, whose kernels come first, without those of
  // `hone bench kernel-searches`.
  std::string suite = "bench/data/kernels";
  // The number of kernels, those of the suite included.
  int64_t kernels = 600;
  // Kernels of several such computations together, after those.
  int64_t composites = 0;
  // Schedules of each kernel besides the default.
  int64_t schedules = 40;
  uint64_t seed = 0;
  int32_t threads = 1;
  // A regular expression that kernel names must match; empty: all.
  std::string only;
  // Begin no further kernel after this long.
  absl::Duration time = absl::InfiniteDuration();
};

struct CollectedKernels {
  // Kernels and schedules measured by this call.
  int64_t kernels = 0;
  int64_t schedules = 0;
  // Those of these schedules that failed.
  int64_t failures = 0;
  // Kernels that cannot be measured at all.
  int64_t refused = 0;
  double seconds = 0;
};

// Measures schedules of kernels (schedule_draw.h) and appends a line for each
// kernel to the data file, which holds whole lines at any moment. Tells its
// progress to `log`. Kernels, and schedules as far as they depend on no
// measurement, follow from the seed. Errors: InvalidArgument for a file that is
// no data file, or a device of another fingerprint in it; those of the
// measurer that concern no kernel.
absl::StatusOr<CollectedKernels> CollectKernels(
    const CollectKernelsOptions& options, backends::KernelMeasurer& measurer,
    std::ostream& log);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_COLLECT_KERNELS_H_
