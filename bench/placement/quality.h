#ifndef HONE_BENCH_PLACEMENT_QUALITY_H_
#define HONE_BENCH_PLACEMENT_QUALITY_H_

#include <ostream>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

#include "bench/placement/placement.h"

namespace hone::bench {

// The max loads on the public graphs: first of the seeds and of the experts'
// splits, where they are valid, then of the searches for each start and kind of
// budget, as ratios to the exact program's; where that does not finish, or
// finds something else than is asked for (other contiguities than kPipeline),
// to a lower bound. Two graphs are in work at a time.
absl::StatusOr<nlohmann::ordered_json> MeasureQuality(
    const PlacementBenchOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_PLACEMENT_QUALITY_H_
