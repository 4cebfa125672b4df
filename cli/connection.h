#ifndef HONE_CLI_CONNECTION_H_
#define HONE_CLI_CONNECTION_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/channel.h"

namespace hone::cli {

// Where the daemon of a user listens if not on the socket of their state
// folder.
inline constexpr char kDefaultTcpServer[] = "127.0.0.1:7420";

// How to reach the daemon, as the options say.
struct Connection {
  // "HOST:PORT" or "unix:PATH"; empty: found by FindServer.
  std::string server;
  // Files in PEM: the authorities that sign the server's certificate, which
  // turn TLS on, and this client's own certificate.
  std::string tls_ca;
  std::string tls_cert;
  std::string tls_key;
  // The file of the token.
  std::string token_file;

  // The contents of these files, after ReadCredentials.
  std::string tls_ca_pem;
  std::string tls_cert_pem;
  std::string tls_key_pem;
  std::string token;
};

// Reads the files. Errors: InvalidArgument if one cannot be read, or the
// options do not fit together: a token goes to other machines over TLS only.
absl::Status ReadCredentials(Connection& connection);

// Returns the server among those of FindServer that answers now; nullopt if
// none does.
std::optional<std::string> RunningServer();

// Returns the address of the daemon that answers: the socket in this user's
// state folder, else kDefaultTcpServer. Waits for one, at most `timeout`. If
// none answers, returns the socket.
std::string FindServer(absl::Duration timeout);

// Returns a channel to `server`, whose calls carry the token.
std::shared_ptr<grpc::Channel> OpenChannel(const std::string& server,
                                           const Connection& connection);

}  // namespace hone::cli

#endif  // HONE_CLI_CONNECTION_H_
