#ifndef HONE_TUNING_TASKS_TPU_WORKER_H_
#define HONE_TUNING_TASKS_TPU_WORKER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"

#include "backends/kernel_measurer.h"
#include "backends/tpu_sim/tpu.h"
#include "hlo/tiles/kernel_config.h"
#include "space/measurement.h"
#include "tuning/task.h"

namespace hone::tuning {

// The workers that offer a simulated TPU, as a problem measures on them. After
// a failure they are asked again only while the TPU is offered, and not any
// more after several in a row.
// Threads: thread-safe.
class TpuWorker {
 public:
  // The most kernels of one request, and the most bytes of their texts: well
  // below what the daemon accepts.
  static constexpr size_t kMaxKernels = 256;
  static constexpr size_t kMaxKernelBytes = size_t{1} << 20;

  // Returns null if no worker offers `tpu` now, or kernels cannot be measured:
  // this process simulates then. What the context refers to outlives the
  // result.
  static std::shared_ptr<TpuWorker> Find(const backends::Tpu& tpu,
                                         const TaskContext& context);

  // Measures configurations of a kernel, given as HLO text, in one request.
  // Returns one measurement each, in order, in nanoseconds, the same as
  // backends::ToMeasurement has of a simulation.
  // Errors: those of KernelMeasurer::Measure, Unavailable among them if no
  // worker offers the TPU any more.
  absl::StatusOr<std::vector<space::Measurement>> Measure(
      absl::string_view kernel, const hlo::KernelConfig& by_default,
      absl::Span<const hlo::KernelConfig> configs);

  // Measures kernels, given as HLO texts within the limits above, with their
  // default configurations, in one request. Returns one measurement each, in
  // order, in nanoseconds. Errors: as Measure.
  absl::StatusOr<std::vector<space::Measurement>> MeasureDefaults(
      std::vector<std::string> kernels);

  // Returns true for errors of Measure and MeasureDefaults that are about the
  // workers, not about what was to be measured, nor a stop: they are lost, time
  // out, or return what they must not.
  static bool IsFailure(const absl::Status& status);

  // Returns the machines that have measured, sorted.
  std::vector<std::string> machines() const;

 private:
  TpuWorker(backends::KernelMeasurer& kernels, std::string fingerprint,
            std::function<bool()> stop)
      : kernels_(kernels),
        fingerprint_(std::move(fingerprint)),
        stop_(std::move(stop)) {}

  absl::StatusOr<std::vector<space::Measurement>> Measure(
      const backends::KernelRequest& request);

  backends::KernelMeasurer& kernels_;
  const std::string fingerprint_;
  const std::function<bool()> stop_;
  mutable absl::Mutex mu_;
  absl::btree_set<std::string> machines_ ABSL_GUARDED_BY(mu_);
  // In a row.
  int failures_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_TPU_WORKER_H_
