#ifndef HONE_CLI_TUNING_TEXT_H_
#define HONE_CLI_TUNING_TEXT_H_

#include <string>

#include <nlohmann/json.hpp>

#include "hone/v1/tuning.pb.h"

namespace hone::cli {

// Returns a tuning as a JSON object: its name, what it tunes, its state and
// what it has found.
nlohmann::ordered_json TuningToJson(const hone::v1::Tuning& tuning);
// Returns a tuning in one line, with the error of one that failed.
std::string TuningToText(const hone::v1::Tuning& tuning);

}  // namespace hone::cli

#endif  // HONE_CLI_TUNING_TEXT_H_
