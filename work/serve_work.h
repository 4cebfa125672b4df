#ifndef HONE_WORK_SERVE_WORK_H_
#define HONE_WORK_SERVE_WORK_H_

#include <cstdint>

namespace hone::work {

// Exit status of a process that needed more memory than it may have.
inline constexpr int kOutOfMemory = 70;

// The main loop of a process that works (WorkProcess): reads jobs from `from`
// until its end and writes their results to `to`. `memory_bytes`: all that the
// process may allocate; 0: no limit.
[[noreturn]] void ServeWork(int from, int to, int64_t memory_bytes);

}  // namespace hone::work

#endif  // HONE_WORK_SERVE_WORK_H_
