#ifndef HONE_BENCH_PLACEMENT_STEP_SCALE_H_
#define HONE_BENCH_PLACEMENT_STEP_SCALE_H_

#include <cstdint>
#include <ostream>
#include <vector>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

// Measures the CPU time and memory of step problems on eight V100, of unrolled
// recurrent networks of about each number of `nodes`: the known methods, one
// simulation (of the kernels of the default fusion, and of all nodes as
// kernels), a change of a local search, the first moves of the shipped policy,
// and the memory of all this, without that of the process before. Writes rows
// to `out` as they finish.
//
// Returns "sizes", a row for each, and "growth": for each quantity, how it grew
// from the smallest to the largest graph, divided by the growth of n log n; at
// most 1 if the quantity grows no faster.
absl::StatusOr<nlohmann::ordered_json> MeasureStepScale(
    const std::vector<int64_t>& nodes, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_PLACEMENT_STEP_SCALE_H_
