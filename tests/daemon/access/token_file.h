#ifndef HONE_TESTS_DAEMON_ACCESS_TOKEN_FILE_H_
#define HONE_TESTS_DAEMON_ACCESS_TOKEN_FILE_H_

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace hone::testing {

// Writes a file of tokens: clients of these names with these roles, whose
// tokens are "secret-NAME".
inline void WriteTokens(
    const std::string& path,
    const std::vector<std::pair<std::string, std::string>>& clients) {
  std::ofstream file(path);
  file << "# Clients.\n\n";
  for (const auto& [name, roles] : clients) {
    file << name << " " << roles << " " << Sha256Hex("secret-" + name) << "\n";
  }
  file.close();
  std::filesystem::permissions(path, std::filesystem::perms::owner_read |
                                         std::filesystem::perms::owner_write);
}

}  // namespace hone::testing

#endif  // HONE_TESTS_DAEMON_ACCESS_TOKEN_FILE_H_
