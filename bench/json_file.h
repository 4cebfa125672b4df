#ifndef HONE_BENCH_JSON_FILE_H_
#define HONE_BENCH_JSON_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

// Reads a JSON file. `expected` describes it in errors: NotFound if it cannot
// be read, InvalidArgument if it is not JSON.
absl::StatusOr<nlohmann::ordered_json> ReadJsonFile(const std::string& path,
                                                    absl::string_view expected);

}  // namespace hone::bench

#endif  // HONE_BENCH_JSON_FILE_H_
