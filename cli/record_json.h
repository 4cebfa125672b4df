#ifndef HONE_CLI_RECORD_JSON_H_
#define HONE_CLI_RECORD_JSON_H_

#include <string>

#include <nlohmann/json.hpp>

#include "hone/v1/record.pb.h"

namespace hone::cli {

// Formats a record as the JSON of `hone lookup` and `hone cache list`.
nlohmann::ordered_json RecordToJson(const hone::v1::Record& record);

// Formats a record as one line of text.
std::string RecordToText(const hone::v1::Record& record);

}  // namespace hone::cli

#endif  // HONE_CLI_RECORD_JSON_H_
