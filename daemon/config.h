#ifndef HONE_DAEMON_CONFIG_H_
#define HONE_DAEMON_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "base/state_directory.h"
#include "daemon/limits.h"

namespace hone::daemon {

// The configuration of honed. The defaults need no file. [limits] is the base.
struct Config : LimitValues {
  // [server]
  // The addresses of gRPC: "unix:PATH" or "HOST:PORT", where port 0 takes any
  // free one. None: the socket in the state folder.
  std::vector<std::string> listen;
  // The address of HTTP, HOST:PORT.
  std::string http = "127.0.0.1:7421";
  // Names by which browsers and Prometheus may address the HTTP port, besides
  // loopback and the host of `http`.
  std::vector<std::string> http_hosts;
  // Folder of the store.
  std::string state = DefaultStateDirectory();
  // Describe the API to tools such as grpcurl.
  bool reflection = true;

  // [access]
  // The file of tokens (TokenTable). With one, callers over TCP need a token;
  // without, they may do all, and TCP is for loopback only.
  std::string tokens;
  // For TLS on all TCP addresses: the certificate chain and its key, in PEM.
  std::string tls_cert;
  std::string tls_key;
  // If clients need a certificate, too: the authorities that sign theirs.
  std::string tls_client_ca;

  // [storage]
  // Results that nobody has asked for, and finished tunings, are removed after
  // this time.
  absl::Duration max_age = absl::InfiniteDuration();
  // The size beyond which those used longest ago are removed; 0: no limit.
  int64_t max_store_bytes = 0;

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

  // `listen`, or its default.
  std::vector<std::string> listen_addresses() const;
};

// Parses `text` (TOML) over the defaults. The keys are the names above, in the
// tables named above, those of [limits] in limits.def; durations are seconds
// ("grace_seconds"), log_json is
// `format = "json"`. In [storage], max_age is `max_age_days`, 0 for never, and
// max_store_bytes is `max_bytes`.
// Errors: InvalidArgument, "FILE:LINE:COLUMN: what, expected what", for bad
// syntax, unknown tables, keys and optimizers, and values of the wrong kind.
absl::StatusOr<Config> ParseConfig(absl::string_view text,
                                   absl::string_view file_name);

// Reads and parses a file. Errors: also NotFound.
absl::StatusOr<Config> ReadConfig(const std::string& path);

// Checks what parsing cannot: known log level and optimizer, and that addresses
// which other machines can reach have TLS and tokens.
// Errors: InvalidArgument.
absl::Status ValidateConfig(const Config& config);

}  // namespace hone::daemon

#endif  // HONE_DAEMON_CONFIG_H_
