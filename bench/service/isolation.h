#ifndef HONE_BENCH_SERVICE_ISOLATION_H_
#define HONE_BENCH_SERVICE_ISOLATION_H_

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

#include "bench/serve.h"

namespace hone::bench {

// Compares tunings that search and verify in a process of `hone work` with the
// same ones in this process, each pair in one run and in alternating order:
// {"tunings": [{"module", "seed", "here_seconds", "apart_seconds", "ratio"}],
// "ratio", "ratio_min", "ratio_max"}. Each finds the same winner.
// Errors: those of a tuning; Internal if the two find different costs.
absl::StatusOr<nlohmann::ordered_json> MeasureIsolation(
    const ServeOptions& options);

}  // namespace hone::bench

#endif  // HONE_BENCH_SERVICE_ISOLATION_H_
