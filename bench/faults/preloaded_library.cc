#include "bench/faults/preloaded_library.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include <unistd.h>

namespace hone::bench {

absl::StatusOr<std::string> FindPreloadedLibrary(const std::string& name) {
  std::error_code error;
  const std::filesystem::path path =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path() /
      name;
  if (!error && access(path.c_str(), R_OK) == 0) return path.string();
  return absl::NotFoundError(absl::StrCat(
      path.string(), " is not there, expected a build with tests"));
}

}  // namespace hone::bench
