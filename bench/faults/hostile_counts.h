#ifndef HONE_BENCH_FAULTS_HOSTILE_COUNTS_H_
#define HONE_BENCH_FAULTS_HOSTILE_COUNTS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hone::bench {

// What the processes of candidates try in place of their work
// (tests/faults/hostile_code.cc), in the order of HostileCounts.
inline constexpr std::array kAttacks = {
    "segfault", "stack overflow", "endless loop", "fork", "64 GiB",
    "file",     "network",        "kill parent",  "exec",
};

// The layout of the file named by $HONE_HOSTILE_COUNTS, which these processes
// map before they enter the sandbox.
struct HostileCounts {
  std::array<std::atomic<int64_t>, kAttacks.size()> tried;
  // Of them, those that the sandbox let through, and those that it answered
  // with an error. The others ended their process.
  std::array<std::atomic<int64_t>, kAttacks.size()> succeeded;
  std::array<std::atomic<int64_t>, kAttacks.size()> refused;
};
static_assert(std::atomic<int64_t>::is_always_lock_free);

}  // namespace hone::bench

#endif  // HONE_BENCH_FAULTS_HOSTILE_COUNTS_H_
