#ifndef HONE_BENCH_PLACEMENT_SCALE_H_
#define HONE_BENCH_PLACEMENT_SCALE_H_

#include <ostream>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

#include "bench/placement/placement.h"

namespace hone::bench {

// CPU time and memory by the size of a synthetic graph
// (graphs/layered_graph.h): of each seed with its max load, of the moves that
// annealing tries, and of a round of each learned optimizer: what it proposes
// after the seeds, and again after it has seen the results of that, which is
// when ppo learns.
absl::StatusOr<nlohmann::ordered_json> MeasureScale(
    const PlacementBenchOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_PLACEMENT_SCALE_H_
