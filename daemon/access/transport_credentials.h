#ifndef HONE_DAEMON_ACCESS_TRANSPORT_CREDENTIALS_H_
#define HONE_DAEMON_ACCESS_TRANSPORT_CREDENTIALS_H_

#include <memory>

#include "absl/status/statusor.h"
#include <grpcpp/security/server_credentials.h>

#include "daemon/access/certificate_files.h"
#include "daemon/config.h"

namespace hone::daemon {

// Returns TLS with the content of `files` that is in use when a client
// connects; connections that are open keep theirs. Clients need a certificate
// if there is an authority for them. gRPC keeps `files` as long as a port.
std::shared_ptr<grpc::ServerCredentials> TlsCredentials(
    std::shared_ptr<CertificateFiles> files);

// Returns what TCP connections are protected by: TLS if the configuration has a
// certificate, else nothing.
// Errors: those of CertificateFiles::Create.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> TcpCredentials(
    const Config& config);

}  // namespace hone::daemon

#endif  // HONE_DAEMON_ACCESS_TRANSPORT_CREDENTIALS_H_
