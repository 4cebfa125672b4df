#ifndef HONE_BENCH_PARTITION_PARTITION_SEARCH_H_
#define HONE_BENCH_PARTITION_PARTITION_SEARCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "tuning/tasks/partition_problem.h"

namespace hone::bench {

struct PartitionSearchOptions {
  std::string search;  // of PartitionBenchOptions::searches
  uint64_t seed = 0;
  int64_t samples = 0;
  std::string weights;
};

struct PartitionRun {
  // The least cost of a valid partition among the first i samples, in
  // milliseconds; of 0 samples that of the seeds. [samples + 1]
  std::vector<double> best;
  double seconds = 0;
  // The moves that the constraint solver repaired, and the mean share of the
  // variables that it gave other values than the move.
  int64_t repairs = 0;
  double repaired_share = 0;
};

// Errors: NotFound, listing the known ones, for a search that is none.
absl::Status CheckPartitionSearch(const std::string& search);

// Runs a search; what earlier ones tried on the problem is forgotten. A search
// that ends early keeps its last value. Errors: those of CreateOptimizer and
// RunSearch.
absl::StatusOr<PartitionRun> SearchPartition(
    const PartitionSearchOptions& options, tuning::PartitionProblem& problem);

}  // namespace hone::bench

#endif  // HONE_BENCH_PARTITION_PARTITION_SEARCH_H_
