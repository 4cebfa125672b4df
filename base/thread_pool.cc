#include "base/thread_pool.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/synchronization/blocking_counter.h"

#include "base/check.h"
#include "base/may_block.h"
#include "base/trace_context.h"

namespace hone {

ThreadPool::ThreadPool(size_t num_threads) {
  HONE_CHECK(num_threads >= 1);
  threads_.reserve(num_threads);
  for (size_t i = 0; i < num_threads; ++i) {
    threads_.emplace_back([this] { Work(); });
  }
}

ThreadPool::~ThreadPool() {
  AssertMayBlock("the end of a thread pool");
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

size_t ThreadPool::queued() const {
  absl::MutexLock lock(&mu_);
  return queue_.size();
}

void ThreadPool::Schedule(std::function<void()> task) {
  // A task belongs to the request that its scheduler works for.
  if (!CurrentTraceparent().empty()) {
    task = [task = std::move(task), trace = std::string(CurrentTraceparent())] {
      const TraceScope scope(trace);
      task();
    };
  }
  absl::MutexLock lock(&mu_);
  queue_.push_back(std::move(task));
}

void ThreadPool::ParallelFor(
    int64_t n, int64_t grain,
    const std::function<void(int64_t, int64_t)>& body) {
  if (n <= 0) return;
  const int64_t pieces = std::clamp<int64_t>(n / std::max<int64_t>(grain, 1), 1,
                                             static_cast<int64_t>(size()) + 1);
  if (pieces == 1) {
    body(0, n);
    return;
  }
  AssertMayBlock("ThreadPool::ParallelFor");
  absl::BlockingCounter done(static_cast<int>(pieces - 1));
  for (int64_t p = 1; p < pieces; ++p) {
    Schedule([&, p] {
      body(n * p / pieces, n * (p + 1) / pieces);
      done.DecrementCount();
    });
  }
  body(0, n / pieces);
  done.Wait();
}

void ThreadPool::Work() {
  while (true) {
    std::function<void()> task;
    {
      absl::MutexLock lock(&mu_);
      mu_.Await(absl::Condition(
          +[](ThreadPool* pool) ABSL_EXCLUSIVE_LOCKS_REQUIRED(pool->mu_) {
            return pool->stopping_ || !pool->queue_.empty();
          },
          this));
      if (queue_.empty()) return;
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    task();
  }
}

}  // namespace hone
