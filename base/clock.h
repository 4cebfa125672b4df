#ifndef HONE_BASE_CLOCK_H_
#define HONE_BASE_CLOCK_H_

#include "absl/time/time.h"

namespace hone {

// A source of time, so that tests can set it.
// Threads: implementations are thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  // Wall-clock time, for records that people read.
  virtual absl::Time Now() const = 0;
  // Time since an arbitrary fixed point; never steps back. For budgets and
  // durations.
  virtual absl::Duration Monotonic() const = 0;
};

// The process-wide system clock; never destroyed.
const Clock& SystemClock();

}  // namespace hone

#endif  // HONE_BASE_CLOCK_H_
