#ifndef HONE_DAEMON_TELEMETRY_HTTP_SERVER_H_
#define HONE_DAEMON_TELEMETRY_HTTP_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace hone::daemon {

// The HTTP server for operators and Prometheus.
//
// Paths: /metrics (Prometheus text format), /healthz (200 while the process
// runs), /readyz (200 while it accepts requests, else 503), / (links).
class HttpServer {
 public:
  struct Handlers {
    std::function<std::string()> metrics;
    std::function<bool()> ready;
  };

  // Listens on `address` ("HOST:PORT"; port 0: any) and serves until it is
  // destroyed. Handlers are called from several threads.
  // Errors: InvalidArgument for a bad address; Unavailable if the port is
  // taken.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(
      const std::string& address, Handlers handlers);
  virtual ~HttpServer() = default;

  // The listening port.
  virtual int port() const = 0;
};

// Splits "HOST:PORT" or "[HOST]:PORT".
// Errors: InvalidArgument.
absl::StatusOr<std::pair<std::string, int>> SplitAddress(
    const std::string& address);

}  // namespace hone::daemon

#endif  // HONE_DAEMON_TELEMETRY_HTTP_SERVER_H_
