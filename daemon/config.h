#ifndef HONE_DAEMON_CONFIG_H_
#define HONE_DAEMON_CONFIG_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace hone::daemon {

// The configuration of honed. The defaults need no file.
struct Config {
  // [server]
  // The addresses of gRPC and HTTP; port 0 takes any free one.
  std::string listen = "127.0.0.1:7420";
  std::string http = "127.0.0.1:7421";
  // Folder of the store.
  std::string state = DefaultStateDirectory();
  // Describe the API to tools such as grpcurl.
  bool reflection = true;

  // [limits]
  // The largest module that may be uploaded.
  int64_t max_module_bytes = int64_t{512} << 20;
  // Concurrent tunings: one per two cores.
  int max_running_tunings = DefaultRunningTunings();
  // Tunings that may wait in the queue.
  int max_queued_tunings = 1000;
  // The memory of gRPC's buffers for all connections together.
  int64_t rpc_memory_bytes = int64_t{1} << 30;
  // The number of open environments, the memory of their states and cached
  // steps, and the time after which an unused one expires.
  int max_environments = 4096;
  int64_t environment_memory_bytes = int64_t{2} << 30;
  absl::Duration environment_idle = absl::Minutes(10);

  // [tuning]
  // The optimizer and trials of requests without any; no optimizer: the task's
  // own.
  std::string default_optimizer;
  int64_t default_trials = 500;

  // [workers]
  // The duration of a lease: a worker that is silent for longer loses its work.
  absl::Duration worker_lease = absl::Seconds(15);
  // Start a worker on the daemon's own machine.
  bool local_worker = true;

  // [drain]
  // The time between health turning NOT_SERVING and the first refused request,
  // so that load balancers notice.
  absl::Duration drain_delay = absl::ZeroDuration();
  // The time that calls and tunings then have to end.
  absl::Duration drain_grace = absl::Seconds(10);

  // [log]
  bool log_json = false;
  // "trace", "debug", "info", "warning", "error" or "off".
  std::string log_level = "info";

  bool operator==(const Config&) const = default;

  // $XDG_STATE_HOME/hone, else ~/.local/state/hone.
  static std::string DefaultStateDirectory();
  static int DefaultRunningTunings();
};

// Parses `text` (TOML) over the defaults. The keys are the names above, in the
// tables named above; durations are seconds ("grace_seconds"), log_json is
// `format = "json"`.
// Errors: InvalidArgument, "FILE:LINE:COLUMN: what, expected what", for bad
// syntax, unknown tables, keys and optimizers, and values of the wrong kind.
absl::StatusOr<Config> ParseConfig(absl::string_view text,
                                   absl::string_view file_name);

// Reads and parses a file. Errors: also NotFound.
absl::StatusOr<Config> ReadConfig(const std::string& path);

// Checks what parsing cannot: known log level and optimizer, limits in range.
// Errors: InvalidArgument.
absl::Status ValidateConfig(const Config& config);

}  // namespace hone::daemon

#endif  // HONE_DAEMON_CONFIG_H_
