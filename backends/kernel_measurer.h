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

#include "backends/cpu/measure/calibration.h"
#include "loops/transforms/machine.h"
#include "space/measurement.h"

namespace hone::backends {

// A device that kernels are measured on.
struct KernelDevice {
  // "cpu" or "tpu_sim".
  std::string kind;
  // The name that the system reports.
  std::string model;
  // LLVM's processor and features that code is generated for; of a simulated
  // TPU the name of its description.
  std::string isa;
  loops::Machine machine;
  // "cpu:0123456789abcdef": the kind, and a hash of the fields above (of a
  // simulated TPU: of its description) and of the versions that code and timing
  // depend on. Measurements on devices with equal
  // fingerprints are comparable; the fingerprint is the target of tuned
  // kernels.
  std::string fingerprint;
};

// The measurement of one schedule.
struct KernelTiming {
  space::Outcome outcome = space::Outcome::kOk;
  // The reason if the outcome is not kOk.
  std::string message;
  // The bytes of memory that a kInvalid candidate needs beyond what the device
  // has; 0 if unknown.
  double violation = 0;
  // Nanoseconds per call: the median, and each sample.
  double ns = 0;
  std::vector<double> samples_ns;
  // The ratio to the baseline (PairedTiming::ratio) and its interval.
  double ratio = 1;
  double ratio_low = 1;
  double ratio_high = 1;
  // The largest error relative to the evaluator, on random inputs.
  double max_rel_error = 0;
  absl::Duration compile_time;
};

// The form of what is measured, and of its schedules.
enum class KernelForm {
  // The HLO text of one kernel. Schedules are scripts
  // (loops/transforms/script.h) for the program that it lowers to; expected
  // results are those of the evaluator.
  kHlo,
  // The text of a loop program (loops/text/text.h), to which scripts apply.
  // Expected results are those of the baseline: who asks has to check it.
  kProgram,
  // The HLO text of a whole module. Schedules are those of all its kernels
  // (plan_script.h); expected results are those of the evaluator.
  kModule,
  // The HLO text of a kernel for a simulated TPU (hlo/tiles/tiled_kernel.h).
  // Schedules are the texts of its configurations (hlo/tiles/kernel_config.h),
  // the empty one as the baseline the default; they compute nothing, and
  // threads, seed, pairs, bar and fresh_process change nothing.
  kTpuKernel,
  // The HLO texts of kernels for a simulated TPU (KernelRequest::kernels), each
  // measured by itself: candidate script number i is a configuration of kernel
  // number i, an empty one the default. There is no baseline, ratios are 1, and
  // what changes nothing for kTpuKernel changes nothing here.
  kTpuKernels,
};

// Returns true for the forms whose kernels a simulated TPU runs.
inline bool IsForTpu(KernelForm form) {
  return form == KernelForm::kTpuKernel || form == KernelForm::kTpuKernels;
}

// A request to check schedules of one kernel or module, and to time them
// against a baseline schedule.
struct KernelRequest {
  std::string module;  // text
  KernelForm form = KernelForm::kHlo;
  std::string baseline_script;
  std::vector<std::string> candidate_scripts;
  // kTpuKernels: as many texts as candidate scripts. `module` is empty then.
  std::vector<std::string> kernels;
  // The number of threads of parallel loops; a single thread is pinned to a
  // core.
  int32_t threads = 1;
  // The seed of the arguments and of the order of samples.
  uint64_t seed = 0;
  // The most pairs of samples per candidate.
  int32_t pairs = 11;
  // The ratio that candidates have to beat: those that surely do not, or surely
  // do, get fewer pairs (PairedTimingOptions::bar). 0: all get all pairs.
  double bar = 0;
  // The time limit of one candidate: compilation, check and timing.
  absl::Duration timeout = absl::Seconds(10);
  // Additional results to report.
  bool time_baseline = false;
  bool calibrate = false;
  // Measure in a process that has measured nothing before, with arrays that are
  // placed as the seed says: for confirmations.
  bool fresh_process = false;
  // kTpuKernel, kTpuKernels: the description of the TPU (PrintTpu), filled in
  // by the process that offers the device.
  std::string tpu;
  // Measure on a second machine too, if there is one with the same device. Of
  // two measurements that agree the slower ratio is reported; if they disagree,
  // the outcome is kWrongResult. If they disagree about the baseline's time,
  // Measure returns Internal.
  bool confirm = false;
};

struct KernelReport {
  std::optional<Calibration> calibration;
  // The timing of the baseline against itself.
  std::optional<KernelTiming> baseline;
  // In the order of candidate_scripts.
  std::vector<KernelTiming> candidates;
  // The ids of the workers that measured; two if a confirmation was asked for
  // and possible. Empty if this machine did.
  std::vector<std::string> workers;
  // Their machines, in the same order.
  std::vector<std::string> machines;
};

// Measures kernels in other processes, on this or other machines. Thread-safe.
class KernelMeasurer {
 public:
  virtual ~KernelMeasurer() = default;

  // Returns the devices that are available now, one per fingerprint.
  virtual std::vector<KernelDevice> Devices() = 0;

  // Waits for a device of this fingerprint or kind (any device if empty), since
  // workers take a while to connect. Returns Unavailable if none appears, and
  // Cancelled after `stop`.
  virtual absl::StatusOr<KernelDevice> AwaitDevice(
      absl::string_view fingerprint, const std::function<bool()>& stop) = 0;

  // Measures on a device of this fingerprint; polls `stop`. Errors: those of
  // KernelBench::Create, about the module and the baseline; Unavailable if
  // there is no such device; Cancelled after `stop`; Internal.
  virtual absl::StatusOr<KernelReport> Measure(
      const KernelRequest& request, absl::string_view fingerprint,
      const std::function<bool()>& stop) = 0;
};

}  // namespace hone::backends

#endif  // HONE_BACKENDS_KERNEL_MEASURER_H_
