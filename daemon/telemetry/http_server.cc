#include "daemon/telemetry/http_server.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <list>
#include <optional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "daemon/access/addresses.h"
#include "daemon/limits.h"
#include "daemon/telemetry/http_request.h"

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

constexpr int kBacklog = 256;
// From accepting a connection to the end of its request, and from the response
// to its last byte.
constexpr absl::Duration kReadTimeout = absl::Seconds(5);
constexpr absl::Duration kWriteTimeout = absl::Seconds(10);
constexpr int kPollMilliseconds = 1000;
constexpr int kAcceptPauseMilliseconds = 100;

absl::string_view ReasonPhrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Bad Request";
  }
}

std::string MakeResponse(int status, absl::string_view type,
                         absl::string_view body, bool is_head) {
  return absl::StrCat("HTTP/1.1 ", status, " ", ReasonPhrase(status),
                      "\r\nContent-Type: ", type,
                      "\r\nContent-Length: ", body.size(),
                      "\r\nConnection: close\r\nCache-Control: no-store"
                      "\r\nContent-Security-Policy: default-src 'none'"
                      "\r\nX-Content-Type-Options: nosniff\r\n\r\n",
                      is_head ? "" : body);
}

std::string MakeError(int status) {
  return MakeResponse(
      status, "text/plain",
      status == 403 ? "this host or origin is not allowed, expected loopback, "
                      "the host of --http or one of server.http_hosts\n"
                    : absl::StrCat(ReasonPhrase(status), "\n"),
      /*is_head=*/false);
}

struct Connection {
  int fd = -1;
  // Monotonic.
  absl::Duration deadline;
  std::string head;
  // The number of the collection of metrics that answers; 0: none. Meanwhile
  // nothing is to be read or written.
  int64_t collection = 0;
  bool is_head = false;
  std::string response;
  size_t written = 0;
};

class PollingServer final : public HttpServer {
 public:
  PollingServer(Handlers handlers, AllowedHosts hosts)
      : handlers_(std::move(handlers)), hosts_(std::move(hosts)) {}

  ~PollingServer() override {
    {
      absl::MutexLock lock(&mu_);
      ending_ = true;
    }
    if (thread_.joinable()) {
      Wake();
      thread_.join();
    }
    collector_.reset();
    for (const Connection& connection : connections_) close(connection.fd);
    if (listener_ >= 0) close(listener_);
    if (wake_ >= 0) close(wake_);
  }

  bool Listen(const std::string& host, int port) {
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    if (getaddrinfo(host.c_str(), absl::StrCat(port).c_str(), &hints, &found) !=
        0) {
      return false;
    }
    wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    listener_ =
        socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int yes = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    const bool listens =
        wake_ >= 0 && bind(listener_, found->ai_addr, found->ai_addrlen) == 0 &&
        listen(listener_, kBacklog) == 0;
    freeaddrinfo(found);
    if (!listens) return false;
    sockaddr_in6 bound = {};
    socklen_t size = sizeof(bound);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&bound), &size);
    // At the same place in the addresses of both families.
    port_ = ntohs(bound.sin6_port);
    thread_ = std::thread([this] { Serve(); });
    return true;
  }

  int port() const override { return port_; }

 private:
  void Wake() {
    const uint64_t one = 1;
    (void)!write(wake_, &one, sizeof(one));
  }

  void Serve() {
    std::vector<pollfd> events;
    while (true) {
      const bool accepts = SystemClock().Monotonic() >= accept_after_;
      events = {{accepts ? listener_ : -1, POLLIN, 0}, {wake_, POLLIN, 0}};
      for (const Connection& connection : connections_) {
        const bool writes = !connection.response.empty();
        events.push_back({connection.collection > 0 ? -1 : connection.fd,
                          static_cast<int16_t>(writes ? POLLOUT : POLLIN), 0});
      }
      if (poll(events.data(), events.size(),
               accepts ? kPollMilliseconds : kAcceptPauseMilliseconds) < 0) {
        continue;
      }
      if (events[1].revents != 0 && TakeMetrics()) return;
      const absl::Duration now = SystemClock().Monotonic();
      auto event = events.begin() + 2;
      for (auto connection = connections_.begin();
           connection != connections_.end(); ++event) {
        bool open = connection->deadline > now;
        if (open && event->revents != 0) {
          open = connection->response.empty() ? Read(*connection)
                                              : Write(*connection);
        }
        if (open) {
          ++connection;
        } else {
          close(connection->fd);
          connection = connections_.erase(connection);
        }
      }
      if (events[0].revents != 0) Accept(now);
    }
  }

  // Answers with the metrics that have been collected. Returns true at the end.
  bool TakeMetrics() {
    uint64_t ignored = 0;
    (void)!read(wake_, &ignored, sizeof(ignored));
    absl::MutexLock lock(&mu_);
    if (ending_ || !metrics_.has_value()) return ending_;
    for (Connection& connection : connections_) {
      if (connection.collection != collection_) continue;
      connection.collection = 0;
      Respond(connection,
              MakeResponse(200, kMetricsType, *metrics_, connection.is_head));
    }
    metrics_.reset();
    collecting_ = false;
    Collect();
    return false;
  }

  // Starts the next collection, if somebody waits for it and none is under way:
  // one answers all who asked before it started.
  void Collect() {
    const auto waits = [&](const Connection& connection) {
      return connection.collection > collection_;
    };
    if (collecting_ ||
        std::none_of(connections_.begin(), connections_.end(), waits)) {
      return;
    }
    collecting_ = true;
    ++collection_;
    collector_->Schedule([this] {
      std::string metrics = handlers_.metrics();
      {
        absl::MutexLock lock(&mu_);
        metrics_ = std::move(metrics);
      }
      Wake();
    });
  }

  void Accept(absl::Duration now) {
    int fd = -1;
    while ((fd = accept4(listener_, nullptr, nullptr,
                         SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
      if (connections_.size() == size_t{kMaxHttpConnections}) {
        close(connections_.front().fd);
        connections_.pop_front();
      }
      Connection& connection = connections_.emplace_back();
      connection.fd = fd;
      connection.deadline = now + kReadTimeout;
    }
    // Without a file for it, the client stays where it waits, and poll() would
    // say so again at once.
    if (errno == EMFILE || errno == ENFILE) {
      accept_after_ = now + absl::Milliseconds(kAcceptPauseMilliseconds);
    }
  }

  static void Respond(Connection& connection, std::string response) {
    connection.response = std::move(response);
    connection.deadline = SystemClock().Monotonic() + kWriteTimeout;
  }

  // These return false at the end of the connection.
  bool Read(Connection& connection) {
    char bytes[4096];
    const ssize_t size = recv(connection.fd, bytes, sizeof(bytes), 0);
    if (size < 0) return errno == EAGAIN || errno == EINTR;
    if (size == 0) return false;
    connection.head.append(bytes, static_cast<size_t>(size));
    const size_t end = connection.head.find("\r\n\r\n");
    if (end <= size_t{kMaxHttpHeadBytes}) {
      Handle(connection, absl::string_view(connection.head).substr(0, end));
    } else if (connection.head.size() > size_t{kMaxHttpHeadBytes}) {
      Respond(connection, MakeError(431));
    }
    return true;
  }

  static bool Write(Connection& connection) {
    const absl::string_view rest =
        absl::string_view(connection.response).substr(connection.written);
    const ssize_t size =
        send(connection.fd, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (size < 0) return errno == EAGAIN || errno == EINTR;
    connection.written += static_cast<size_t>(size);
    return connection.written < connection.response.size();
  }

  void Handle(Connection& connection, absl::string_view head) {
    HttpRequest request;
    const int status = ParseHttpRequest(head, hosts_, request);
    const auto respond = [&](int code, absl::string_view type,
                             absl::string_view body) {
      Respond(connection, MakeResponse(code, type, body, request.is_head));
    };
    if (status != 200) {
      Respond(connection, MakeError(status));
    } else if (request.path == "/healthz") {
      respond(200, "text/plain", "ok\n");
    } else if (request.path == "/readyz") {
      const bool is_ready = handlers_.ready();
      respond(is_ready ? 200 : 503, "text/plain",
              is_ready ? "ready\n" : "not ready\n");
    } else if (request.path == "/") {
      respond(200, "text/html; charset=utf-8", kIndex);
    } else if (request.path == "/metrics") {
      connection.collection = collection_ + 1;
      connection.is_head = request.is_head;
      connection.deadline = absl::InfiniteDuration();
      Collect();
    } else {
      respond(404, "text/plain", "Not Found\n");
    }
  }

  const Handlers handlers_;
  const AllowedHosts hosts_;
  int listener_ = -1;
  int wake_ = -1;
  int port_ = 0;
  // Of the serving thread; the oldest first.
  absl::Duration accept_after_;
  std::list<Connection> connections_;
  // Of the serving thread: the last collection that was started, and whether it
  // is under way.
  int64_t collection_ = 0;
  bool collecting_ = false;
  absl::Mutex mu_;
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  // Collected, and not taken yet.
  std::optional<std::string> metrics_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
  // Collects the metrics.
  std::unique_ptr<ThreadPool> collector_ = std::make_unique<ThreadPool>(1);
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(
    const std::string& address, Handlers handlers,
    std::vector<std::string> hosts) {
  HONE_ASSIGN_OR_RETURN(const auto host_port, SplitAddress(address));
  auto server = std::make_unique<PollingServer>(
      std::move(handlers), AllowedHosts(host_port.first, std::move(hosts)));
  if (!server->Listen(host_port.first, host_port.second)) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", address,
                     " for HTTP, expected a free port of this machine"));
  }
  return server;
}

}  // namespace hone::daemon
