#ifndef HONE_BACKENDS_PROCESS_TIME_LIMIT_H_
#define HONE_BACKENDS_PROCESS_TIME_LIMIT_H_

#include "absl/time/time.h"

#include "backends/kernel_measurer.h"

namespace hone::backends {

// Returns the longest time that a process can take for a request, if each child
// of the measurement takes all of its own time. A process that takes longer
// hangs.
absl::Duration TimeLimit(const KernelRequest& request);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_PROCESS_TIME_LIMIT_H_
