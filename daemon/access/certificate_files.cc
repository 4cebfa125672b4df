#include "daemon/access/certificate_files.h"

#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include "base/status_macros.h"

namespace hone::daemon {
namespace {

constexpr absl::Duration kWatchPeriod = absl::Seconds(1);
constexpr absl::string_view kExpectedChain = "a certificate chain in PEM";
constexpr absl::string_view kExpectedClientCa = "certificates in PEM";

std::string ExpectedKey(const CertificateFiles::Paths& paths) {
  return absl::StrCat("the private key of ", paths.chain,
                      " in PEM, without a passphrase");
}

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(X509* certificate) const { X509_free(certificate); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

absl::Status Unusable(const std::string& path, absl::string_view reason,
                      absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": cannot be used for TLS (", reason, "), expected ", expected));
}

// Returns an error with OpenSSL's reason for its last failure.
absl::Status RefusedByOpenSsl(const std::string& path,
                              absl::string_view expected) {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return Unusable(path, reason == nullptr ? "bad content" : reason, expected);
}

// gRPC, too, sees a text up to its first NUL.
Owned<BIO> ReaderOf(const std::string& pem) {
  return Owned<BIO>(BIO_new_mem_buf(pem.c_str(), -1));
}

// The passphrase of keys, or OpenSSL would ask for one on the terminal.
char* NoPassphrase() {
  static char empty[] = "";
  return empty;
}

absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     absl::string_view expected) {
  const auto error = [&] {
    return Unusable(path, std::generic_category().message(errno), expected);
  };
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return error();
  // Opening a pipe would block.
  if (!S_ISREG(status.st_mode)) {
    return Unusable(path, "is no regular file", expected);
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return error();
  std::ostringstream text;
  // An empty file is left to the parser; << fails for it.
  if (file.peek() != EOF && !(text << file.rdbuf())) return error();
  return file.bad() ? error() : absl::StatusOr<std::string>(text.str());
}

absl::StatusOr<Certificates> ReadFiles(const CertificateFiles::Paths& paths) {
  Certificates content;
  HONE_ASSIGN_OR_RETURN(content.chain, ReadFile(paths.chain, kExpectedChain));
  HONE_ASSIGN_OR_RETURN(content.key, ReadFile(paths.key, ExpectedKey(paths)));
  if (!paths.client_ca.empty()) {
    HONE_ASSIGN_OR_RETURN(content.client_ca,
                          ReadFile(paths.client_ca, kExpectedClientCa));
  }
  return content;
}

// Returns all certificates of a file, at least one. gRPC ignores what follows
// the first bad one; here that is an error.
absl::StatusOr<std::vector<Owned<X509>>> ParseCertificates(
    const std::string& path, const std::string& pem,
    absl::string_view expected) {
  const Owned<BIO> reader = ReaderOf(pem);
  std::vector<Owned<X509>> certificates;
  ERR_clear_error();
  while (X509* certificate = PEM_read_bio_X509_AUX(reader.get(), nullptr,
                                                   nullptr, NoPassphrase())) {
    certificates.emplace_back(certificate);
  }
  const unsigned long end = ERR_peek_last_error();
  if (certificates.empty() || ERR_GET_LIB(end) != ERR_LIB_PEM ||
      ERR_GET_REASON(end) != PEM_R_NO_START_LINE) {
    return RefusedByOpenSsl(path, expected);
  }
  ERR_clear_error();
  return certificates;
}

absl::Status Check(const CertificateFiles::Paths& paths,
                   const Certificates& content) {
  HONE_ASSIGN_OR_RETURN(
      const std::vector<Owned<X509>> chain,
      ParseCertificates(paths.chain, content.chain, kExpectedChain));
  // Refuses certificates that are too weak for TLS.
  const Owned<SSL_CTX> context(SSL_CTX_new(TLS_server_method()));
  if (SSL_CTX_use_certificate(context.get(), chain.front().get()) != 1) {
    return RefusedByOpenSsl(paths.chain, kExpectedChain);
  }
  for (size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context.get(), chain[i].get()) != 1) {
      return RefusedByOpenSsl(paths.chain, kExpectedChain);
    }
  }
  const Owned<EVP_PKEY> key(PEM_read_bio_PrivateKey(
      ReaderOf(content.key).get(), nullptr, nullptr, NoPassphrase()));
  if (key == nullptr ||
      X509_check_private_key(chain.front().get(), key.get()) != 1) {
    return RefusedByOpenSsl(paths.key, ExpectedKey(paths));
  }
  if (paths.client_ca.empty()) return absl::OkStatus();
  return ParseCertificates(paths.client_ca, content.client_ca,
                           kExpectedClientCa)
      .status();
}

}  // namespace

absl::StatusOr<std::unique_ptr<CertificateFiles>> CertificateFiles::Create(
    const Paths& paths) {
  HONE_ASSIGN_OR_RETURN(const Certificates first, ReadFiles(paths));
  HONE_RETURN_IF_ERROR(Check(paths, first));
  auto files =
      std::unique_ptr<CertificateFiles>(new CertificateFiles(paths, first));
  files->watcher_ = std::thread([self = files.get()] { self->Watch(); });
  return files;
}

CertificateFiles::CertificateFiles(const Paths& paths,
                                   const Certificates& first)
    : paths_(paths),
      seen_(first),
      current_(std::make_shared<const Certificates>(first)) {}

CertificateFiles::~CertificateFiles() {
  {
    absl::MutexLock lock(&mu_);
    ending_ = true;
  }
  if (watcher_.joinable()) watcher_.join();
}

absl::Status CertificateFiles::Refresh() {
  absl::MutexLock lock(&refresh_mu_);
  absl::StatusOr<Certificates> read = ReadFiles(paths_);
  if (read == seen_) return status_;
  seen_ = std::move(read);
  status_ = seen_.ok() ? Check(paths_, *seen_) : seen_.status();
  if (!status_.ok()) {
    spdlog::error("{}; the old certificates stay in use",
                  std::string(status_.message()));
    return status_;
  }
  spdlog::info("read the certificates again: {}", paths_.chain);
  auto content = std::make_shared<const Certificates>(*seen_);
  absl::MutexLock current_lock(&mu_);
  current_ = std::move(content);
  return absl::OkStatus();
}

std::shared_ptr<const Certificates> CertificateFiles::Current() const {
  absl::MutexLock lock(&mu_);
  return current_;
}

void CertificateFiles::Watch() {
  while (true) {
    {
      absl::MutexLock lock(&mu_);
      if (mu_.AwaitWithTimeout(absl::Condition(&ending_), kWatchPeriod)) return;
    }
    // Logs what is wrong.
    (void)Refresh();
  }
}

}  // namespace hone::daemon
