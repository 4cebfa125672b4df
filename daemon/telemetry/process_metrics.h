#ifndef HONE_DAEMON_TELEMETRY_PROCESS_METRICS_H_
#define HONE_DAEMON_TELEMETRY_PROCESS_METRICS_H_

#include <string>

namespace hone::daemon {

// The standard process_* metrics of this process in Prometheus text format.
std::string ProcessMetrics();

}  // namespace hone::daemon

#endif  // HONE_DAEMON_TELEMETRY_PROCESS_METRICS_H_
