#ifndef HONE_DAEMON_TELEMETRY_HTTP_SERVER_H_
#define HONE_DAEMON_TELEMETRY_HTTP_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace hone::daemon {

// The HTTP server for operators and Prometheus: GET and HEAD, one request per
// connection.
//
// Paths: /metrics (Prometheus text format), /healthz (200 while the process
// runs), /readyz (200 while it accepts requests, else 503), / (links).
//
// One thread serves all connections and waits for none of them, so that slow
// clients delay nobody; /metrics is made on another. Requests that name the
// server by a host that is not allowed are refused (AllowedHosts).
class HttpServer {
 public:
  struct Handlers {
    // Called from one thread.
    std::function<std::string()> metrics;
    // Called from another, and must not block.
    std::function<bool()> ready;
  };

  // Listens on `address` ("HOST:PORT"; port 0: any) and serves until it is
  // destroyed. `hosts`: names by which it may be addressed, too.
  // Errors: InvalidArgument for a bad address; Unavailable if the port is
  // taken.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(
      const std::string& address, Handlers handlers,
      std::vector<std::string> hosts);
  virtual ~HttpServer() = default;

  // The listening port.
  virtual int port() const = 0;
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_TELEMETRY_HTTP_SERVER_H_
