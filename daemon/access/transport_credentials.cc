#include "daemon/access/transport_credentials.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <openssl/ssl.h>

#include "base/status_macros.h"

namespace hone::daemon {
namespace {

using grpc::experimental::FileWatcherCertificateProvider;
using grpc::experimental::TlsServerCredentialsOptions;

constexpr unsigned kRefreshSeconds = 1;

// gRPC reads the files later, and says nothing about bad ones.
absl::Status CheckFiles(const Config& config) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(
      SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  const auto error = [](const std::string& path, absl::string_view expected) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": cannot be used for TLS, expected ", expected));
  };
  if (SSL_CTX_use_certificate_chain_file(context.get(),
                                         config.tls_cert.c_str()) != 1) {
    return error(config.tls_cert, "a certificate chain in PEM");
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), config.tls_key.c_str(),
                                  SSL_FILETYPE_PEM) != 1) {
    return error(config.tls_key, "the certificate's private key in PEM");
  }
  if (!config.tls_client_ca.empty() &&
      SSL_CTX_load_verify_locations(context.get(), config.tls_client_ca.c_str(),
                                    nullptr) != 1) {
    return error(config.tls_client_ca, "certificates in PEM");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> TcpCredentials(
    const Config& config) {
  if (config.tls_cert.empty()) return grpc::InsecureServerCredentials();
  HONE_RETURN_IF_ERROR(CheckFiles(config));
  TlsServerCredentialsOptions options(
      std::make_shared<FileWatcherCertificateProvider>(
          config.tls_key, config.tls_cert, config.tls_client_ca,
          kRefreshSeconds));
  options.watch_identity_key_cert_pairs();
  if (config.tls_client_ca.empty()) {
    options.set_cert_request_type(GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  } else {
    options.watch_root_certs();
    options.set_cert_request_type(
        GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(options);
}

}  // namespace hone::daemon
