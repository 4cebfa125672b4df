#ifndef HONE_HLO_ANALYSIS_BACKEND_CONFIG_H_
#define HONE_HLO_ANALYSIS_BACKEND_CONFIG_H_

#include <string>

#include <nlohmann/json.hpp>

namespace hone::hlo {

// Returns the text of a backend_config as a JSON object; null if it is none, or
// nests too deep to be a configuration, as values are copied and printed
// recursively.
nlohmann::ordered_json ParseBackendConfig(const std::string& config);

}  // namespace hone::hlo

#endif  // HONE_HLO_ANALYSIS_BACKEND_CONFIG_H_
