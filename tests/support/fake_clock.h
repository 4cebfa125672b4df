#ifndef HONE_TESTS_SUPPORT_FAKE_CLOCK_H_
#define HONE_TESTS_SUPPORT_FAKE_CLOCK_H_

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

#include "base/clock.h"

namespace hone::testing {

// A clock that stands still until it is told to advance.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(absl::Time start = absl::FromUnixSeconds(1'700'000'000))
      : start_(start) {}

  absl::Time Now() const override { return start_ + Monotonic(); }
  absl::Duration Monotonic() const override {
    absl::MutexLock lock(&mu_);
    return elapsed_;
  }
  void Advance(absl::Duration duration) {
    absl::MutexLock lock(&mu_);
    elapsed_ += duration;
  }

 private:
  const absl::Time start_;
  mutable absl::Mutex mu_;
  absl::Duration elapsed_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hone::testing

#endif  // HONE_TESTS_SUPPORT_FAKE_CLOCK_H_
