#ifndef HONE_BENCH_JSON_FILE_H_
#define HONE_BENCH_JSON_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

// Errors: NotFound for a file that cannot be read, InvalidArgument for one that
// is not JSON.
absl::StatusOr<nlohmann::ordered_json> ReadJsonFile(const std::string& path);

}  // namespace hone::bench

#endif  // HONE_BENCH_JSON_FILE_H_
