#ifndef HONE_WORK_WORK_POOL_H_
#define HONE_WORK_WORK_POOL_H_

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

#include "work/work_process.h"

namespace hone::work {

// A fixed number of processes that work, each at one job at a time.
// Threads: thread-safe.
class WorkPool {
 public:
  WorkPool(const WorkProcessOptions& options, int size);
  // Every Run has returned.
  ~WorkPool() = default;

  // Starts all processes, so that the first jobs do not wait for that.
  // Errors: Internal if a program of that path cannot be started.
  absl::Status Start();

  // Waits for a process, and has the job done; `limit` bounds both.
  // Errors: as WorkProcess::Run; DeadlineExceeded if no process becomes free.
  absl::StatusOr<internal::Result> Run(const internal::Job& job,
                                       const WorkEvents& events,
                                       absl::Duration limit);

 private:
  absl::Mutex mu_;
  // The last one used comes last, and is the next to be used.
  std::vector<std::unique_ptr<WorkProcess>> free_ ABSL_GUARDED_BY(mu_);
};

// Searches in a process of a pool.
class ProcessSearcher final : public tuning::Searcher {
 public:
  // `kernels` may be null. Both outlive the searcher.
  ProcessSearcher(WorkPool& pool, backends::KernelMeasurer* kernels)
      : pool_(pool), kernels_(kernels) {}

  // Errors: also those of WorkPool::Run.
  absl::StatusOr<tuning::Found> Search(
      const tuning::SearchJob& job,
      const tuning::SearchEvents& events) override;

 private:
  WorkPool& pool_;
  backends::KernelMeasurer* const kernels_;
};

}  // namespace hone::work

#endif  // HONE_WORK_WORK_POOL_H_
