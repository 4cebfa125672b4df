#include "hlo/analysis/backend_config.h"

namespace hone::hlo {

nlohmann::ordered_json ParseBackendConfig(const std::string& config) {
  using Json = nlohmann::ordered_json;
  constexpr int kMaxLevels = 64;
  bool is_too_deep = false;
  const auto keep = [&](int level, Json::parse_event_t, const Json&) {
    is_too_deep |= level > kMaxLevels;
    return !is_too_deep;
  };
  Json json = Json::parse(config, keep, /*allow_exceptions=*/false);
  return json.is_object() && !is_too_deep ? json : Json();
}

}  // namespace hone::hlo
