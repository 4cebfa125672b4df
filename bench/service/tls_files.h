#ifndef HONE_BENCH_SERVICE_TLS_FILES_H_
#define HONE_BENCH_SERVICE_TLS_FILES_H_

#include <string>

#include "absl/status/statusor.h"

namespace hone::bench {

// A certificate for localhost, in PEM, that is its own authority.
struct TlsFiles {
  std::string certificate_path = "";
  std::string key_path = "";
  std::string certificate = "";
  std::string key = "";
};

// Makes one in `directory` with the program openssl.
// Errors: Unavailable without that program.
absl::StatusOr<TlsFiles> MakeTlsFiles(const std::string& directory);

}  // namespace hone::bench

#endif  // HONE_BENCH_SERVICE_TLS_FILES_H_
