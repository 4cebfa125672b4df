#ifndef HONE_BENCH_JSON_FILE_H_
#define HONE_BENCH_JSON_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

// Errors, which say what is `expected` there: NotFound for a file that cannot
// be read, InvalidArgument for one that is not JSON.
absl::StatusOr<nlohmann::ordered_json> ReadJsonFile(const std::string& path,
                                                    absl::string_view expected);

}  // namespace hone::bench

#endif  // HONE_BENCH_JSON_FILE_H_
