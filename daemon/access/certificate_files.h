#ifndef HONE_DAEMON_ACCESS_CERTIFICATE_FILES_H_
#define HONE_DAEMON_ACCESS_CERTIFICATE_FILES_H_

#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace hone::daemon {

// What a TLS server shows and trusts, in PEM.
struct Certificates {
  // The server's certificate, then those that sign it.
  std::string chain;
  std::string key;
  // The authorities that sign clients; empty if clients need no certificate.
  std::string client_ca;

  bool operator==(const Certificates&) const = default;
};

// The files of a TLS server, read again every second. Their content comes into
// use only if it is complete and the key fits the certificate; until then, the
// last content that did so stays in use.
//
// Threads: thread-safe.
class CertificateFiles {
 public:
  struct Paths {
    std::string chain;
    std::string key;
    // Empty: none.
    std::string client_ca;
  };

  // Reads the files for the first time.
  // Errors: InvalidArgument if they cannot be used; the message names the file,
  // the reason and what was expected.
  static absl::StatusOr<std::unique_ptr<CertificateFiles>> Create(
      const Paths& paths);
  ~CertificateFiles();
  CertificateFiles(const CertificateFiles&) = delete;
  CertificateFiles& operator=(const CertificateFiles&) = delete;

  // Reads the files now. A change is logged once, whether it can be used or
  // not. Errors: as Create; the old content stays in use.
  absl::Status Refresh();

  // Returns the content in use: the same object until it changes.
  std::shared_ptr<const Certificates> Current() const;

 private:
  CertificateFiles(const Paths& paths, const Certificates& first);
  void Watch();

  const Paths paths_;
  // Held while files are read, which may take long; Current needs `mu_` only.
  absl::Mutex refresh_mu_;
  // What the last round has read, and what was wrong with it.
  absl::StatusOr<Certificates> seen_ ABSL_GUARDED_BY(refresh_mu_);
  absl::Status status_ ABSL_GUARDED_BY(refresh_mu_);
  mutable absl::Mutex mu_;
  std::shared_ptr<const Certificates> current_ ABSL_GUARDED_BY(mu_);
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  std::thread watcher_;  // last: uses the others
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_ACCESS_CERTIFICATE_FILES_H_
