#ifndef HONE_BACKENDS_PROCESS_SERVE_MEASUREMENTS_H_
#define HONE_BACKENDS_PROCESS_SERVE_MEASUREMENTS_H_

#include "absl/status/status.h"

namespace hone::backends {

// The measuring process (MeasureProcess): does work that comes on `from`, until
// it ends, and writes completions to `to`. It forks, so the process must have
// no threads.
// Errors: InvalidArgument for what is no work; Internal when nobody reads.
absl::Status ServeMeasurements(int from, int to);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_PROCESS_SERVE_MEASUREMENTS_H_
