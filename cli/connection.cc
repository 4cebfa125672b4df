#include "cli/connection.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/support/client_interceptor.h"
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/state_directory.h"
#include "base/status_macros.h"

namespace hone::cli {
namespace {

constexpr int kReconnectMilliseconds = 100;
constexpr absl::Duration kPause = absl::Milliseconds(20);
constexpr int kDefaultPort = 7420;

absl::Status ReadFile(const char* option, const std::string& path,
                      std::string& text) {
  if (path.empty()) return absl::OkStatus();
  std::ifstream file(path, std::ios::binary);
  text.assign(std::istreambuf_iterator<char>(file), {});
  if (file.is_open() && !text.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      option, " '", path, "': cannot be read, expected a file with content"));
}

// Returns true for servers that only processes of this machine can be.
bool IsLocal(absl::string_view server) {
  return server.empty() || absl::StartsWith(server, "unix:") ||
         absl::StartsWith(server, "127.") ||
         absl::StartsWith(server, "localhost:") ||
         absl::StartsWith(server, "[::1]:");
}

template <typename Address>
bool Answers(int family, const Address& address) {
  const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool answers = connect(fd, reinterpret_cast<const sockaddr*>(&address),
                               sizeof(address)) == 0;
  close(fd);
  return answers;
}

// Adds the token to every call.
class TokenInterceptor final : public grpc::experimental::Interceptor {
 public:
  explicit TokenInterceptor(const std::string& value) : value_(value) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* batch) override {
    if (batch->QueryInterceptionHookPoint(
            grpc::experimental::InterceptionHookPoints::
                PRE_SEND_INITIAL_METADATA)) {
      batch->GetSendInitialMetadata()->emplace("authorization", value_);
    }
    batch->Proceed();
  }

 private:
  const std::string& value_;
};

class TokenInterceptorFactory final
    : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  explicit TokenInterceptorFactory(absl::string_view token)
      : value_(absl::StrCat("Bearer ", token)) {}

  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo*) override {
    return new TokenInterceptor(value_);
  }

 private:
  const std::string value_;
};

}  // namespace

absl::Status ReadCredentials(Connection& connection) {
  HONE_RETURN_IF_ERROR(
      ReadFile("--tls-ca", connection.tls_ca, connection.tls_ca_pem));
  HONE_RETURN_IF_ERROR(
      ReadFile("--tls-cert", connection.tls_cert, connection.tls_cert_pem));
  HONE_RETURN_IF_ERROR(
      ReadFile("--tls-key", connection.tls_key, connection.tls_key_pem));
  HONE_RETURN_IF_ERROR(
      ReadFile("--token-file", connection.token_file, connection.token));
  absl::StripAsciiWhitespace(&connection.token);
  if (connection.tls_cert.empty() != connection.tls_key.empty() ||
      (!connection.tls_cert.empty() && connection.tls_ca.empty())) {
    return absl::InvalidArgumentError(
        "only some of the options for TLS, expected --tls-ca, or --tls-ca, "
        "--tls-cert and --tls-key");
  }
  if (!connection.token.empty() && connection.tls_ca.empty() &&
      !IsLocal(connection.server)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--token-file without --tls-ca: the token would be sent "
                     "to ",
                     connection.server, " in the clear, expected both"));
  }
  return absl::OkStatus();
}

std::optional<std::string> RunningServer() {
  const std::string path = SocketPath(DefaultStateDirectory());
  sockaddr_un unix_address = {};
  unix_address.sun_family = AF_UNIX;
  if (path.size() < sizeof(unix_address.sun_path)) {
    std::memcpy(unix_address.sun_path, path.data(), path.size());
    if (Answers(AF_UNIX, unix_address)) return absl::StrCat("unix:", path);
  }
  sockaddr_in tcp_address = {};
  tcp_address.sin_family = AF_INET;
  tcp_address.sin_port = htons(kDefaultPort);
  tcp_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (Answers(AF_INET, tcp_address)) return kDefaultTcpServer;
  return std::nullopt;
}

std::string FindServer(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  while (true) {
    if (auto server = RunningServer()) return *std::move(server);
    if (absl::Now() >= deadline) break;
    absl::SleepFor(kPause);
  }
  return absl::StrCat("unix:", SocketPath(DefaultStateDirectory()));
}

std::shared_ptr<grpc::Channel> OpenChannel(const std::string& server,
                                           const Connection& connection) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(64 << 20);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS,
                   kReconnectMilliseconds);
  std::shared_ptr<grpc::ChannelCredentials> credentials =
      grpc::InsecureChannelCredentials();
  if (!connection.tls_ca_pem.empty() && !absl::StartsWith(server, "unix:")) {
    credentials =
        grpc::SslCredentials({connection.tls_ca_pem, connection.tls_key_pem,
                              connection.tls_cert_pem});
  }
  std::vector<
      std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>>
      interceptors;
  if (!connection.token.empty()) {
    interceptors.push_back(
        std::make_unique<TokenInterceptorFactory>(connection.token));
  }
  return grpc::experimental::CreateCustomChannelWithInterceptors(
      server, credentials, arguments, std::move(interceptors));
}

}  // namespace hone::cli
