#ifndef HONE_BENCH_COST_MODEL_KERNEL_SAMPLES_H_
#define HONE_BENCH_COST_MODEL_KERNEL_SAMPLES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "backends/kernel_measurer.h"
#include "bench/cost_model/random_kernels.h"

namespace hone::bench {

// One measured schedule.
struct ScheduleSample {
  std::string script;
  // A schedule that failed has no times.
  space::Outcome outcome = space::Outcome::kOk;
  std::string message;
  // The time over that of the default schedule, measured in pairs, and its
  // interval.
  double ratio = 1;
  double ratio_low = 1;
  double ratio_high = 1;
  // The median and the least of its samples, at the speed that the machine had
  // then.
  double ns = 0;
  double least_ns = 0;
};

// The schedules of one kernel that were measured together: a line of a data
// file.
struct KernelSamples {
  NamedKernel kernel;
  backends::KernelDevice device;
  // The speed of the device when the data were collected.
  backends::Calibration calibration;
  int32_t threads = 1;
  // The time of the default schedule, which is the first sample: the least of
  // its samples, which others on the machine disturb least.
  double default_ns = 0;
  std::vector<ScheduleSample> samples;
};

// The start of each line of a data file.
inline constexpr absl::string_view kKernelLineBegin = R"({"family":)";

// Returns a line without its end: JSON.
std::string PrintKernelSamples(const KernelSamples& samples);

// Parses a line; `where` begins errors. Errors: InvalidArgument for what is no
// such line, or has numbers that no measurement gives.
absl::StatusOr<KernelSamples> ParseKernelSamples(absl::string_view line,
                                                 absl::string_view where);

// Calls `use` for each line of a data file, in order. A last line without an
// end is what an interrupted run left, and is ignored. Errors: NotFound;
// those of ParseKernelSamples, "FILE:LINE: …"; those of `use`.
absl::Status ReadKernelSamples(
    const std::string& path,
    const std::function<absl::Status(KernelSamples)>& use);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_KERNEL_SAMPLES_H_
