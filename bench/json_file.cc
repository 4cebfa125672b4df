#include "bench/json_file.h"

#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"

namespace hone::bench {

absl::StatusOr<nlohmann::ordered_json> ReadJsonFile(
    const std::string& path, absl::string_view expected) {
  std::ifstream file(path);
  if (!file) {
    return absl::NotFoundError(
        absl::StrCat(path, ": cannot be read, expected ", expected));
  }
  auto json = nlohmann::ordered_json::parse(file, nullptr,
                                            /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": not JSON, expected ", expected));
  }
  return json;
}

}  // namespace hone::bench
