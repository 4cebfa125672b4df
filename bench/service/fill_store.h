#ifndef HONE_BENCH_SERVICE_FILL_STORE_H_
#define HONE_BENCH_SERVICE_FILL_STORE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"

#include "storage/record.h"

namespace hone::bench {

// Adds record(0) to record(records - 1), each with its finished tuning, to the
// SQLite store in `directory`, which nobody has open. Far faster than
// publishing them.
absl::Status FillStore(const std::string& directory, int64_t records,
                       const std::function<storage::Record(int64_t)>& record);

}  // namespace hone::bench

#endif  // HONE_BENCH_SERVICE_FILL_STORE_H_
