#include "daemon/telemetry/http_server.h"

#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include <httplib.h>
#include <sys/socket.h>

#include "base/status_macros.h"

namespace hone::daemon {
namespace {

constexpr char kMetricsType[] = "text/plain; version=0.0.4; charset=utf-8";

constexpr char kIndex[] = R"(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>honed</title>
<h1>honed)"
                          " " HONE_VERSION R"(</h1>
<ul>
<li><a href="/metrics">/metrics</a>: for Prometheus
<li><a href="/healthz">/healthz</a>: whether the process lives
<li><a href="/readyz">/readyz</a>: whether it takes requests
</ul>
<p>The API is gRPC, package <code>hone.v1</code>.
</html>
)";

class HttplibServer final : public HttpServer {
 public:
  explicit HttplibServer(Handlers handlers) {
    // By default the library shares a port with whoever has it already.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    server_.new_task_queue = [] { return new httplib::ThreadPool(4); };
    server_.set_payload_max_length(0);
    server_.set_read_timeout(10);
    server_.set_write_timeout(10);
    server_.Get("/", [](const httplib::Request&, httplib::Response& response) {
      response.set_header("Content-Security-Policy", "default-src 'none'");
      response.set_content(kIndex, "text/html; charset=utf-8");
    });
    server_.Get("/metrics",
                [metrics = std::move(handlers.metrics)](
                    const httplib::Request&, httplib::Response& response) {
                  response.set_content(metrics(), kMetricsType);
                });
    server_.Get("/healthz",
                [](const httplib::Request&, httplib::Response& response) {
                  response.set_content("ok\n", "text/plain");
                });
    server_.Get("/readyz", [ready = std::move(handlers.ready)](
                               const httplib::Request&,
                               httplib::Response& response) {
      const bool is_ready = ready();
      response.status = is_ready ? 200 : 503;
      response.set_content(is_ready ? "ready\n" : "not ready\n", "text/plain");
    });
  }

  ~HttplibServer() override {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }

  bool Listen(const std::string& host, int port) {
    port_ = port == 0 ? server_.bind_to_any_port(host)
                      : (server_.bind_to_port(host, port) ? port : -1);
    if (port_ <= 0) return false;
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    // Before that, stop() has no effect.
    while (!server_.is_running()) std::this_thread::yield();
    return true;
  }

  int port() const override { return port_; }

 private:
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::pair<std::string, int>> SplitAddress(
    const std::string& address) {
  const size_t colon = address.rfind(':');
  int port = -1;
  absl::string_view host(address.data(),
                         colon == std::string::npos ? 0 : colon);
  if (absl::StartsWith(host, "[") && absl::EndsWith(host, "]")) {
    host = host.substr(1, host.size() - 2);
  }
  if (host.empty() ||
      !absl::SimpleAtoi(absl::string_view(address).substr(colon + 1), &port) ||
      port < 0 || port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("bad address \"", address, "\", expected HOST:PORT"));
  }
  return std::make_pair(std::string(host), port);
}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(
    const std::string& address, Handlers handlers) {
  HONE_ASSIGN_OR_RETURN(const auto host_port, SplitAddress(address));
  auto server = std::make_unique<HttplibServer>(std::move(handlers));
  if (!server->Listen(host_port.first, host_port.second)) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", address,
                     " for HTTP, expected a free port of this machine"));
  }
  return server;
}

}  // namespace hone::daemon
