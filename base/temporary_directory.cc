#include "base/temporary_directory.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

#include "base/hash.h"

namespace hone {

TemporaryDirectory::TemporaryDirectory() {
  std::error_code ignored;
  const std::filesystem::path parent =
      std::filesystem::temp_directory_path(ignored);
  path_ = (parent / absl::StrCat("hone.", RandomUuid())).string();
  std::filesystem::create_directory(path_, ignored);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace hone
