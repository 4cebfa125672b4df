#include "base/state_directory.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace hone {

// Called before there are threads.
// NOLINTBEGIN(concurrency-mt-unsafe)
std::string DefaultStateDirectory() {
  if (const char* state = std::getenv("XDG_STATE_HOME");
      state != nullptr && *state == '/') {
    return absl::StrCat(state, "/hone");
  }
  const char* home = std::getenv("HOME");
  return absl::StrCat(home == nullptr ? "" : home, "/.local/state/hone");
}
// NOLINTEND(concurrency-mt-unsafe)

std::string SocketPath(const std::string& state_directory) {
  return absl::StrCat(state_directory, "/hone.sock");
}

}  // namespace hone
