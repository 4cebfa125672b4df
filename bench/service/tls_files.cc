#include "bench/service/tls_files.h"

#include <cerrno>
#include <fstream>
#include <iterator>

#include "absl/status/status.h"
#include <sys/wait.h>

#include "base/child_process.h"
#include "base/status_macros.h"

namespace hone::bench {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

absl::StatusOr<TlsFiles> MakeTlsFiles(const std::string& directory) {
  TlsFiles files{.certificate_path = directory + "/server.pem",
                 .key_path = directory + "/server.key"};
  HONE_ASSIGN_OR_RETURN(
      const pid_t pid,
      StartChildProcess(
          {.program = "/bin/sh",
           .arguments = {"-c",
                         "exec openssl req -x509 -newkey ec -pkeyopt "
                         "ec_paramgen_curve:P-256 -nodes -days 2 "
                         "-subj /CN=localhost "
                         "-addext subjectAltName=DNS:localhost "
                         "-keyout \"$1\" -out \"$0\" 2>/dev/null",
                         files.certificate_path, files.key_path}}));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) {
    return absl::UnavailableError(
        "openssl made no certificate, expected the program openssl 3");
  }
  files.certificate = ReadFile(files.certificate_path);
  files.key = ReadFile(files.key_path);
  return files;
}

}  // namespace hone::bench
