#ifndef HONE_BASE_THREAD_POOL_H_
#define HONE_BASE_THREAD_POOL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace hone {

// A fixed number of threads that run tasks in the order given.
// Threads: all methods are thread-safe.
class ThreadPool {
 public:
  // `num_threads` ≥ 1.
  explicit ThreadPool(size_t num_threads);
  // Runs the queued tasks, then joins.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t size() const { return threads_.size(); }
  // The number of tasks that have not started.
  size_t queued() const;

  // Queues `task`.
  void Schedule(std::function<void()> task);

  // Calls body(begin, end) over a partition of [0, n) in pieces of at least
  // `grain`, on the pool's threads and the caller's; returns when all are done.
  // Must not be called from a task of the same pool.
  void ParallelFor(int64_t n, int64_t grain,
                   const std::function<void(int64_t, int64_t)>& body);

 private:
  void Work();

  mutable absl::Mutex mu_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace hone

#endif  // HONE_BASE_THREAD_POOL_H_
