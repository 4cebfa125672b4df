#ifndef HONE_DAEMON_TELEMETRY_BACKGROUND_REFRESH_H_
#define HONE_DAEMON_TELEMETRY_BACKGROUND_REFRESH_H_

#include <functional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

#include "base/thread_pool.h"

namespace hone::daemon {

// Runs a function on a thread of its own for callers who cannot wait for long.
// Threads: thread-safe.
class BackgroundRefresh {
 public:
  explicit BackgroundRefresh(std::function<void()> refresh);

  // Starts the function unless it runs, and waits for its end, at most
  // `patience`.
  void Run(absl::Duration patience);

 private:
  const std::function<void()> refresh_;
  absl::Mutex mu_;
  bool running_ ABSL_GUARDED_BY(mu_) = false;
  // Last, as its task uses the others.
  ThreadPool thread_{1};
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_TELEMETRY_BACKGROUND_REFRESH_H_
