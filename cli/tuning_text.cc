#include "cli/tuning_text.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace hone::cli {
namespace {

std::string StateName(hone::v1::Tuning::State state) {
  return absl::AsciiStrToLower(hone::v1::Tuning::State_Name(state));
}

}  // namespace

nlohmann::ordered_json TuningToJson(const hone::v1::Tuning& tuning) {
  nlohmann::ordered_json json = {
      {"name", tuning.name()},       {"module", tuning.module_name()},
      {"task", tuning.key().task()}, {"optimizer", tuning.optimizer()},
      {"seed", tuning.seed()},       {"state", StateName(tuning.state())},
      {"trials", tuning.trials()}};
  if (tuning.has_default_cost()) json["default_cost"] = tuning.default_cost();
  if (tuning.has_best_cost()) json["best_cost"] = tuning.best_cost();
  if (tuning.has_error()) json["error"] = tuning.error().message();
  return json;
}

std::string TuningToText(const hone::v1::Tuning& tuning) {
  return absl::StrFormat(
      "%s %s %s %s: %s, %d trials%s", tuning.name(), tuning.module_name(),
      tuning.key().task(), tuning.optimizer(), StateName(tuning.state()),
      tuning.trials(),
      tuning.has_error() ? absl::StrCat(": ", tuning.error().message()) : "");
}

}  // namespace hone::cli
