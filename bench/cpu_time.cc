#include "bench/cpu_time.h"

#include <time.h>

namespace hone::bench {
namespace {

absl::Duration TimeOf(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return absl::DurationFromTimespec(time);
}

}  // namespace

absl::Duration ThreadCpuTime() { return TimeOf(CLOCK_THREAD_CPUTIME_ID); }

absl::Duration ProcessCpuTime() { return TimeOf(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace hone::bench
