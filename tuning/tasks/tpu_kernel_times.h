#ifndef HONE_TUNING_TASKS_TPU_KERNEL_TIMES_H_
#define HONE_TUNING_TASKS_TPU_KERNEL_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"

#include "base/hash.h"
#include "hlo/fusion/fusion_space.h"
#include "hlo/ir/module.h"

namespace hone::tuning {

// Returns the times of one execution of each of some kernels
// (hlo/fusion/kernels.h), in order, in nanoseconds. The error of one says why
// that kernel cannot run.
// Errors: that they cannot be timed now, which says nothing of the kernels.
// Threads: is called from several at a time.
using KernelTimer =
    std::function<absl::StatusOr<std::vector<absl::StatusOr<double>>>(
        absl::Span<const hlo::Module> kernels)>;

// Returns a timer that times one kernel after the other. Errors: Cancelled
// after `stop`, which may be null.
KernelTimer TimeOneByOne(
    std::function<absl::StatusOr<double>(const hlo::Module& kernel)> time,
    std::function<bool()> stop = nullptr);

// The times of the kernels of a fusion space, each asked for once.
// Threads: thread-safe.
class TpuKernelTimes {
 public:
  class Batch;

  // `space` outlives this.
  TpuKernelTimes(const hlo::FusionSpace& space, KernelTimer timer)
      : space_(space), timer_(std::move(timer)) {}

  // Asks for all times anew from now on. Not while there is a batch.
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

// Kernels whose times are asked for together: the timer is called once, with
// those that are not known.
// Threads: not thread-safe; several may share one TpuKernelTimes.
class TpuKernelTimes::Batch {
 public:
  // `times` outlives this.
  explicit Batch(TpuKernelTimes& times) : times_(times) {}

  // Adds the kernel of these nodes, the root last, with its operands
  // (hlo::KernelRules); returns its number, from 0.
  size_t Add(absl::Span<const hlo::FusionIndex> members,
             absl::Span<const hlo::FusionIndex> operands,
             absl::Span<const uint8_t> layouts);
  // Adds a kernel.
  size_t Add(hlo::Module kernel);

  // Learns the times of all kernels that were added. Errors: the timer's.
  absl::Status Ask();

  // Returns the nanoseconds of a kernel, after Ask. Errors: those of the timer
  // about the kernel and of hlo::MakeKernel; FailedPrecondition for a time that
  // is negative or not finite.
  const absl::StatusOr<double>& operator[](size_t number) const {
    return results_[number];
  }

 private:
  TpuKernelTimes& times_;
  std::vector<absl::StatusOr<double>> results_;
  // The kernels to ask for, each once, and their fingerprints.
  std::vector<hlo::Module> kernels_;
  std::vector<Hash128> unknown_;  // [kernels_]
  // The numbers of what was not known when it was added, by nodes and layouts,
  // and by fingerprint.
  absl::flat_hash_map<Hash128, size_t> by_nodes_;
  absl::flat_hash_map<Hash128, size_t> by_kernel_;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_TPU_KERNEL_TIMES_H_
