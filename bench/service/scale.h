#ifndef HONE_BENCH_SERVICE_SCALE_H_
#define HONE_BENCH_SERVICE_SCALE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

#include "bench/serve.h"
#include "storage/record.h"

namespace hone::bench {

// A result like that of a GPT-2 training step, forty passes, of module `n`, for
// the default target and options.
absl::StatusOr<storage::Record> MakeRecord(int64_t n);

// Compares a honed of options.records records with one of a single record:
// {"empty", "full", each with "start_seconds", "hit", "miss",
// "scrape_ms_max"}, "hit_p99_ratio", "miss_p99_ratio"}. Both serve beside each
// other and are asked in turns.
absl::StatusOr<nlohmann::ordered_json> MeasureScale(
    const ServeOptions& options);

}  // namespace hone::bench

#endif  // HONE_BENCH_SERVICE_SCALE_H_
