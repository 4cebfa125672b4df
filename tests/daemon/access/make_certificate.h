#ifndef HONE_TESTS_DAEMON_ACCESS_MAKE_CERTIFICATE_H_
#define HONE_TESTS_DAEMON_ACCESS_MAKE_CERTIFICATE_H_

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace hone::testing {

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Runs the openssl tool with each of these arguments.
inline void RunOpenSsl(const std::string& folder,
                       const std::vector<std::string>& runs) {
  const std::string log = folder + "/openssl.log";
  for (const std::string& arguments : runs) {
    ASSERT_EQ(std::system(absl::StrCat("openssl ", arguments, " >>", log,
                                       " 2>&1 </dev/null")
                              .c_str()),
              0)
        << ReadFile(log);
  }
}

// Makes an authority and a certificate for localhost that it signs:
// NAME.ca.pem, NAME.pem, NAME.key.
inline void MakeCertificate(const std::string& folder,
                            const std::string& name) {
  const std::string base = folder + "/" + name;
  std::ofstream(base + ".ext") << "subjectAltName=DNS:localhost,IP:127.0.0.1\n";
  RunOpenSsl(
      folder,
      {absl::StrCat("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 "
                    "-nodes -days 2 -subj /CN=",
                    name, "-ca -keyout ", base, ".ca.key -out ", base,
                    ".ca.pem"),
       absl::StrCat("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
                    "-subj /CN=",
                    name, " -keyout ", base, ".key -out ", base, ".csr"),
       absl::StrCat("x509 -req -in ", base, ".csr -CA ", base,
                    ".ca.pem -CAkey ", base,
                    ".ca.key -CAcreateserial -days 2 -extfile ", base,
                    ".ext -out ", base, ".pem")});
}

}  // namespace hone::testing

#endif  // HONE_TESTS_DAEMON_ACCESS_MAKE_CERTIFICATE_H_
