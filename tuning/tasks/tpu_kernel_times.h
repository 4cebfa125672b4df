#ifndef HONE_TUNING_TASKS_TPU_KERNEL_TIMES_H_
#define HONE_TUNING_TASKS_TPU_KERNEL_TIMES_H_

#include <functional>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"

#include "base/hash.h"
#include "hlo/fusion/fusion_space.h"
#include "hlo/ir/module.h"

namespace hone::tuning {

// Returns the time of one execution of a kernel (hlo/fusion/kernels.h) in
// nanoseconds. An error says why the kernel cannot run.
// Threads: is called from several at a time.
using KernelTimer =
    std::function<absl::StatusOr<double>(const hlo::Module& kernel)>;

// The times of the kernels of a fusion space, each asked for once.
// Threads: thread-safe.
class TpuKernelTimes {
 public:
  // `space` outlives this.
  TpuKernelTimes(const hlo::FusionSpace& space, KernelTimer timer)
      : space_(space), timer_(std::move(timer)) {}

  // Returns the nanoseconds of the kernel of these nodes, the root last, with
  // its operands (hlo::KernelRules). Errors: those of the timer and of
  // hlo::MakeKernel; FailedPrecondition for a time that is negative or not
  // finite.
  absl::StatusOr<double> Of(absl::Span<const hlo::FusionIndex> members,
                            absl::Span<const hlo::FusionIndex> operands,
                            absl::Span<const uint8_t> layouts);
  // Returns the nanoseconds of a kernel.
  absl::StatusOr<double> Of(const hlo::Module& kernel);

  // Asks for all times anew from now on.
  void Forget();

 private:
  const hlo::FusionSpace& space_;
  const KernelTimer timer_;
  absl::Mutex mutex_;
  // By nodes and layouts, and by fingerprint.
  absl::flat_hash_map<Hash128, absl::StatusOr<double>> by_nodes_
      ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Hash128, absl::StatusOr<double>> by_kernel_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_TPU_KERNEL_TIMES_H_
