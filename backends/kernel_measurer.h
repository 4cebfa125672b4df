#ifndef HONE_BACKENDS_KERNEL_MEASURER_H_
#define HONE_BACKENDS_KERNEL_MEASURER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "backends/cpu/calibration.h"
#include "loops/machine.h"
#include "space/measurement.h"

namespace hone::backends {

// A device that kernels are measured on.
struct KernelDevice {
  // "cpu".
  std::string kind;
  // As the system names it.
  std::string model;
  // What code is generated for: LLVM's processor and features.
  std::string isa;
  loops::Machine machine;
  // "cpu:0123456789abcdef": kind, and a hash of the above and of the versions
  // that code and timing depend on. Measurements of devices with one
  // fingerprint can be compared; it is the target of what is tuned there.
  std::string fingerprint;
};

// What became of one schedule.
struct KernelTiming {
  space::Outcome outcome = space::Outcome::kOk;
  // Why it is not kOk.
  std::string message;
  // Nanoseconds of one call: median, and each sample.
  double ns = 0;
  std::vector<double> samples_ns;
  // Against the baseline: PairedTiming::ratio.
  double ratio = 1;
  double ratio_low = 1;
  double ratio_high = 1;
  // Against the evaluator, on random inputs.
  double max_rel_error = 0;
  absl::Duration compile_time;
};

// Schedules of one kernel to be checked, and timed against one of them, the
// baseline. Schedules are scripts of the loop language
// (loops/transforms/script.h) for what the module lowers to.
struct KernelRequest {
  std::string module;  // HLO text
  std::string baseline_script;
  std::vector<std::string> candidate_scripts;
  // Of parallel scopes; one thread is pinned to a core.
  int32_t threads = 1;
  // Of the arguments and the order of samples.
  uint64_t seed = 0;
  // Pairs of samples for each candidate.
  int32_t pairs = 11;
  // Of one candidate: compilation, check and timing.
  absl::Duration timeout = absl::Seconds(10);
  // What else to report.
  bool time_baseline = false;
  bool calibrate = false;
  // By a process that has measured nothing before.
  bool fresh_process = false;
};

struct KernelReport {
  std::optional<Calibration> calibration;
  // The baseline against itself.
  std::optional<KernelTiming> baseline;
  // In the order of candidate_scripts.
  std::vector<KernelTiming> candidates;
};

// Where kernels are measured: other processes, here or on other machines.
// Threads: thread-safe.
class KernelMeasurer {
 public:
  virtual ~KernelMeasurer() = default;

  // The devices there are now, each once, by fingerprint.
  virtual std::vector<KernelDevice> Devices() = 0;

  // The device of that fingerprint, or any if it is empty, once one is there:
  // workers take a while to come.
  // Errors: Unavailable when it does not come; Cancelled after `stop`.
  virtual absl::StatusOr<KernelDevice> AwaitDevice(
      absl::string_view fingerprint, const std::function<bool()>& stop) = 0;

  // Measures on a device of that fingerprint; asks `stop` now and then.
  // Errors: those of KernelBench::Create, about the module and the baseline;
  // Unavailable when there is nobody to measure; Cancelled after `stop`;
  // Internal.
  virtual absl::StatusOr<KernelReport> Measure(
      const KernelRequest& request, absl::string_view fingerprint,
      const std::function<bool()>& stop) = 0;
};

}  // namespace hone::backends

#endif  // HONE_BACKENDS_KERNEL_MEASURER_H_
