#include "tuning/read_cost_model.h"

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "hlo/read_module.h"
#include "optimizers/policies/library.h"
#include "tuning/shipped_cost_model.h"

namespace hone::tuning {

absl::StatusOr<std::shared_ptr<const learning::CostPredictor>> ReadCostModel(
    const std::string& weights, const std::string& name,
    const learning::CostSpec& spec) {
  if (weights.empty()) {
    HONE_ASSIGN_OR_RETURN(const learning::CostPredictor* const model,
                          ShippedCostModel(name, spec));
    if (model == nullptr) {
      return absl::NotFoundError(
          absl::StrCat("no model ", name,
                       ".pt comes with this version, expected --weights FILE"));
    }
    // It stays for as long as the process.
    return std::shared_ptr<const learning::CostPredictor>(
        std::shared_ptr<void>(), model);
  }
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadWeights(weights));
  HONE_ASSIGN_OR_RETURN(const auto* const library,
                        optimizers::policies::LoadLibrary());
  auto parsed = library->parse_cost_model(bytes, &spec);
  if (!parsed.ok()) {
    return absl::Status(parsed.status().code(),
                        absl::StrCat(weights, ": ", parsed.status().message()));
  }
  return std::shared_ptr<const learning::CostPredictor>(*std::move(parsed));
}

absl::StatusOr<std::string> ReadWeights(const std::string& path) {
  constexpr absl::string_view kExpected =
      ", expected weights that `hone train` wrote";
  constexpr uintmax_t kMostBytes = uintmax_t{256} << 20;
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    return absl::NotFoundError(absl::StrCat(path, ": no such file", kExpected));
  }
  if (!std::filesystem::is_regular_file(status)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is no regular file", kExpected));
  }
  const uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error || bytes > kMostBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": is larger than ", kMostBytes >> 20, " MiB", kExpected));
  }
  return hlo::ReadFileBytes(path);
}

}  // namespace hone::tuning
