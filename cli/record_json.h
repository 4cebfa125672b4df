#ifndef HONE_CLI_RECORD_JSON_H_
#define HONE_CLI_RECORD_JSON_H_

#include <string>

#include <nlohmann/json.hpp>

#include "hone/v1/record.pb.h"

namespace hone::cli {

// A published result as the JSON of `hone lookup` and `hone cache list`.
nlohmann::ordered_json RecordToJson(const hone::v1::Record& record);

// The same in one line of words.
std::string RecordToText(const hone::v1::Record& record);

}  // namespace hone::cli

#endif  // HONE_CLI_RECORD_JSON_H_
