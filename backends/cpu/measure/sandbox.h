#ifndef HONE_BACKENDS_CPU_MEASURE_SANDBOX_H_
#define HONE_BACKENDS_CPU_MEASURE_SANDBOX_H_

#include "absl/status/status.h"

namespace hone::backends {

// Takes from this process, for good, what a kernel has no need of: a filter of
// system calls (seccomp) that leaves memory, time, its own threads and signals,
// and the descriptors that are open. What a kernel can only mean ill by ends
// the process with SIGSYS: sockets, opening a file for writing, changing the
// file system, starting a program or process, tracing and signaling others. All
// other calls fail with EPERM.
//
// The process must have a single thread and have loaded its code; the threads
// that it starts later are bound as well. Calls that are left cost some tens of
// nanoseconds more; code that makes none runs as fast as before.
//
// Errors: Internal if the system has no such filters.
absl::Status EnterSandbox();

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_MEASURE_SANDBOX_H_
