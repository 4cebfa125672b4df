#include "cli/distinct_files.h"

#include <cstddef>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

// As many as Linux follows.
constexpr int kMaxLinks = 40;

// Returns the path that a file at `path` has, or will have once it is written.
fs::path Resolve(fs::path path) {
  std::error_code error;
  // A link may lead to a file that is not there yet.
  for (int i = 0; i < kMaxLinks && fs::is_symlink(path, error); ++i) {
    const fs::path next = fs::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / next;
  }
  const fs::path absolute = fs::absolute(path, error);
  if (error) return path;
  const fs::path resolved = fs::weakly_canonical(absolute, error);
  return error ? absolute.lexically_normal() : resolved;
}

bool IsSameFile(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::is_other(a, error) || fs::is_other(b, error)) return false;
  return Resolve(a) == Resolve(b) || fs::equivalent(a, b, error);
}

bool IsFile(const NamedPath& file) {
  return !file.path.empty() && file.path != "-";
}

absl::Status CheckDistinct(const NamedPath& output, const NamedPath& other) {
  if (!IsFile(output) || !IsFile(other) ||
      !IsSameFile(output.path, other.path)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(output.name, " ", output.path, " and ", other.name, " ",
                   other.path, " are the same file, expected different ones"));
}

}  // namespace

absl::Status CheckDistinctFiles(const std::vector<NamedPath>& outputs,
                                const std::vector<NamedPath>& inputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (const NamedPath& input : inputs) {
      HONE_RETURN_IF_ERROR(CheckDistinct(outputs[i], input));
    }
    for (size_t j = i + 1; j < outputs.size(); ++j) {
      HONE_RETURN_IF_ERROR(CheckDistinct(outputs[i], outputs[j]));
    }
  }
  return absl::OkStatus();
}

}  // namespace hone::cli
