#include "daemon/access/transport_credentials.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <netdb.h>
#include <sys/socket.h>

#include "base/check.h"
#include "base/status_macros.h"
#include "daemon/access/addresses.h"

namespace hone::daemon {
namespace {

// The certificates of one port: gRPC asks for them before each handshake.
struct Port {
  const std::shared_ptr<CertificateFiles> files;
  // What gRPC has; guarded by gRPC's lock of the port.
  std::shared_ptr<const Certificates> served;
};

grpc_ssl_certificate_config_reload_status Fetch(
    void* state, grpc_ssl_server_certificate_config** config) {
  Port& port = *static_cast<Port*>(state);
  std::shared_ptr<const Certificates> current = port.files->Current();
  if (current == port.served) {
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  }
  // gRPC 1.51 aborts without authorities; nothing uses them if clients are not
  // asked for a certificate.
  const std::string& authorities =
      current->client_ca.empty() ? current->chain : current->client_ca;
  const grpc_ssl_pem_key_cert_pair pair = {current->key.c_str(),
                                           current->chain.c_str()};
  *config =
      grpc_ssl_server_certificate_config_create(authorities.c_str(), &pair, 1);
  port.served = std::move(current);
  return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

int AddPort(grpc_server* server, const std::string& address,
            const std::shared_ptr<CertificateFiles>& files) {
  auto* port = new Port{.files = files, .served = nullptr};
  grpc_server_credentials* credentials =
      grpc_ssl_server_credentials_create_with_options(
          grpc_ssl_server_credentials_create_options_using_config_fetcher(
              files->Current()->client_ca.empty()
                  ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                  : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY,
              &Fetch, port));
  // Nothing tells a fetcher when gRPC is done with it. A processor of metadata,
  // of which this one has no function to process, is told.
  grpc_server_credentials_set_auth_metadata_processor(
      credentials,
      {.process = nullptr,
       .destroy = [](void* state) { delete static_cast<Port*>(state); },
       .state = port});
  const int bound =
      grpc_server_add_http2_port(server, address.c_str(), credentials);
  grpc_server_credentials_release(credentials);
  return bound;
}

// Returns the hosts to listen on for one that may be a name of several.
std::vector<std::string> HostsOf(const std::string& host) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  std::vector<std::string> hosts;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return hosts;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    char name[NI_MAXHOST] = {};
    if (getnameinfo(at->ai_addr, at->ai_addrlen, name, sizeof(name), nullptr, 0,
                    NI_NUMERICHOST) == 0) {
      hosts.emplace_back(name);
    }
  }
  freeaddrinfo(found);
  return hosts;
}

// gRPC's own credentials in C++ read files themselves, and close a port while
// they do not fit.
class ReloadedCredentials final : public grpc::ServerCredentials {
 public:
  explicit ReloadedCredentials(std::shared_ptr<CertificateFiles> files)
      : files_(std::move(files)) {}

  void SetAuthMetadataProcessor(
      const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {
    HONE_CHECK(false);  // Authenticator does that.
  }

 private:
  int AddPortToServer(const std::string& address,
                      grpc_server* server) override {
    const auto host_and_port = SplitAddress(address);
    if (!host_and_port.ok()) return 0;
    // gRPC replaces the certificates of a port safely only if no two of its
    // sockets accept connections at once: each address gets a port of its own.
    int bound = 0;
    for (const std::string& host : HostsOf(host_and_port->first)) {
      const int port = AddPort(
          server,
          absl::StrCat(absl::StrContains(host, ':') ? "[" + host + "]" : host,
                       ":", bound == 0 ? host_and_port->second : bound),
          files_);
      if (port > 0) bound = port;
    }
    return bound;
  }

  const std::shared_ptr<CertificateFiles> files_;
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> TlsCredentials(
    std::shared_ptr<CertificateFiles> files) {
  return std::make_shared<ReloadedCredentials>(std::move(files));
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> TcpCredentials(
    const Config& config) {
  if (config.tls_cert.empty()) return grpc::InsecureServerCredentials();
  HONE_ASSIGN_OR_RETURN(auto files, CertificateFiles::Create(
                                        {.chain = config.tls_cert,
                                         .key = config.tls_key,
                                         .client_ca = config.tls_client_ca}));
  return TlsCredentials(std::move(files));
}

}  // namespace hone::daemon
