#include "tests/backends/kernel_names.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace hone::testing {

std::vector<std::string> KernelNames(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(folder, error)) {
    if (file.path().extension() == ".hlo") names.push_back(file.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace hone::testing
