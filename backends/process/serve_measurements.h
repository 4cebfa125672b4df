#ifndef HONE_BACKENDS_PROCESS_SERVE_MEASUREMENTS_H_
#define HONE_BACKENDS_PROCESS_SERVE_MEASUREMENTS_H_

#include "absl/status/status.h"

namespace hone::backends {

// The main loop of the measuring process (MeasureProcess): reads work from
// `from` until end of file and writes completions to `to`. Forks, so the
// process must have no threads. Returns InvalidArgument for malformed work, and
// Internal if the reader has gone.
absl::Status ServeMeasurements(int from, int to);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_PROCESS_SERVE_MEASUREMENTS_H_
