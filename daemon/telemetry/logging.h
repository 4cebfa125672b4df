#ifndef HONE_DAEMON_TELEMETRY_LOGGING_H_
#define HONE_DAEMON_TELEMETRY_LOGGING_H_

#include "daemon/config.h"

namespace hone::daemon {

// Sends logs to stderr, as text or as one JSON object per line. Lines about a
// request with a trace context (base/trace_context.h) have it.
void SetUpLogging(const Config& config);

}  // namespace hone::daemon

#endif  // HONE_DAEMON_TELEMETRY_LOGGING_H_
