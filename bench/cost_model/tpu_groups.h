#ifndef HONE_BENCH_COST_MODEL_TPU_GROUPS_H_
#define HONE_BENCH_COST_MODEL_TPU_GROUPS_H_

#include <vector>

#include "absl/status/statusor.h"

#include "bench/cost_model/tpu_samples.h"
#include "learning/cost/cost_samples.h"

namespace hone::bench {

// Returns what a line of data says to the heads of tuning::TpuCostSpec: all
// configurations to the head `time`, of each choice of flags the tiles to the
// head `tile`, and of each tile the flags to the head `flags`, where there are
// several. Errors: InvalidArgument for a kernel that does not parse, or a
// configuration outside of its space.
absl::StatusOr<std::vector<learning::CostGroup>> TpuGroups(
    const TpuSamples& line);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_TPU_GROUPS_H_
