#ifndef HONE_BENCH_CPU_TIME_H_
#define HONE_BENCH_CPU_TIME_H_

#include "absl/time/time.h"

namespace hone::bench {

// The CPU time that this thread, or all of this process, has taken. Unlike the
// time that passes, it depends little on what else the machine does.
absl::Duration ThreadCpuTime();
absl::Duration ProcessCpuTime();

}  // namespace hone::bench

#endif  // HONE_BENCH_CPU_TIME_H_
