#ifndef HONE_DAEMON_ACCESS_TRANSPORT_CREDENTIALS_H_
#define HONE_DAEMON_ACCESS_TRANSPORT_CREDENTIALS_H_

#include <memory>

#include "absl/status/statusor.h"
#include <grpcpp/security/server_credentials.h>

#include "daemon/config.h"

namespace hone::daemon {

// Returns what TCP connections are protected by: TLS if the configuration has a
// certificate, with client certificates if it has an authority for them, else
// nothing. The files are read again when they change; the daemon goes on with
// the old ones while they do not fit.
// Errors: InvalidArgument if a file cannot be read, or key and certificate do
// not fit.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> TcpCredentials(
    const Config& config);

}  // namespace hone::daemon

#endif  // HONE_DAEMON_ACCESS_TRANSPORT_CREDENTIALS_H_
