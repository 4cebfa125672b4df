#include "tests/backends/suite_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
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

bool HasNan(absl::Span<const hlo::Literal> results) {
  for (const hlo::Literal& result : results) {
    for (int64_t i = 0; i < result.num_elements(); ++i) {
      if (std::isnan(result.AsDouble(i))) return true;
    }
  }
  return false;
}

void TakeAbsoluteValues(std::vector<hlo::Literal>& arguments) {
  for (hlo::Literal& argument : arguments) {
    for (int64_t i = 0; i < argument.num_elements(); ++i) {
      argument.SetDouble(i, std::abs(argument.AsDouble(i)));
    }
  }
}

}  // namespace hone::testing
