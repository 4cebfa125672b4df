#ifndef HONE_BENCH_COST_MODEL_TPU_DATA_H_
#define HONE_BENCH_COST_MODEL_TPU_DATA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"

#include "base/hash.h"
#include "bench/cost_model/tpu_programs.h"
#include "learning/cost/cost_samples.h"

namespace hone::bench {

// The part of a data file (hone dataset tpu) that models learn from: the lines
// of families outside of the split's test families. Errors of both functions:
// those of ReadTpuSamples.

// Returns the fingerprints of the kernels, hlo::FastFingerprint.
absl::StatusOr<absl::flat_hash_set<Hash128>> KernelsLearnedFrom(
    const std::string& data, const FamilySplit& split);

// Returns the groups of kernels that are drawn by `seed` until they have
// `samples` configurations, or of all if they have fewer.
// Errors: InvalidArgument if there are none.
absl::StatusOr<std::vector<learning::CostGroup>> DrawTpuGroups(
    const std::string& data, const FamilySplit& split, int64_t samples,
    uint64_t seed);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_TPU_DATA_H_
