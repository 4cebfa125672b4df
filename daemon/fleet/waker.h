#ifndef HONE_DAEMON_FLEET_WAKER_H_
#define HONE_DAEMON_FLEET_WAKER_H_

#include <functional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace hone::daemon {

// A function that is called at most once.
// Threads: thread-safe.
class Waker {
 public:
  explicit Waker(std::function<void()> wake) : wake_(std::move(wake)) {}

  // Calls the function, unless it was called or forgotten before.
  void Fire() {
    absl::MutexLock lock(&mu_);
    if (auto wake = std::exchange(wake_, nullptr)) wake();
  }
  // Afterwards the function is not called, and no call is under way.
  void Forget() {
    absl::MutexLock lock(&mu_);
    wake_ = nullptr;
  }

 private:
  absl::Mutex mu_;
  std::function<void()> wake_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_FLEET_WAKER_H_
