#ifndef HONE_BENCH_PLACEMENT_PEAK_MEMORY_H_
#define HONE_BENCH_PLACEMENT_PEAK_MEMORY_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace hone::bench {

// What a piece of work took. `bytes` is how far resident memory rose above what
// it was before, at most; `peak_bytes` is its most, of the whole process.
struct Usage {
  absl::Duration cpu_time;  // of all threads
  int64_t bytes = 0;
  int64_t peak_bytes = 0;
};

// Calls `work` and returns what it took. Memory that the allocator kept from
// earlier work is given back before. Nothing else may run in this process
// meanwhile; other processes do not matter.
// Errors: Unavailable where the system does not say, which Linux does.
absl::StatusOr<Usage> MeasureUsage(const std::function<void()>& work);

}  // namespace hone::bench

#endif  // HONE_BENCH_PLACEMENT_PEAK_MEMORY_H_
