#ifndef HONE_BENCH_PLACEMENT_STEP_SCALE_H_
#define HONE_BENCH_PLACEMENT_STEP_SCALE_H_

#include <cstdint>
#include <ostream>
#include <vector>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

// Measures what steps take on eight V100 as an unrolled recurrent network grows
// to about each of `nodes`: the known methods, one simulation (of all nodes as
// kernels, and of the kernels of the default fusion), a change of a local
// search, the first moves of the shipped policy, and the most memory of this
// process so far.
absl::StatusOr<nlohmann::ordered_json> MeasureStepScale(
    const std::vector<int64_t>& nodes, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_PLACEMENT_STEP_SCALE_H_
