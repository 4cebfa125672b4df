#ifndef HONE_BENCH_COST_MODEL_KERNEL_COST_BENCH_H_
#define HONE_BENCH_COST_MODEL_KERNEL_COST_BENCH_H_

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

struct KernelCostBenchOptions {
  // File of measured kernels (hone dataset kernels).
  std::string kernels;
  // The split whose test kernels are predicted (KernelSplit).
  std::string split = "bench/data/cost_model/kernel_split.json:manual";
  // Files of weights, one of each seed; none: the model that comes with Hone.
  std::vector<std::string> weights;
};

// Compares a learned model of scheduled kernels on CPUs with the roofline model
// on measured kernels that were never trained on: what selecting a schedule by
// them costs, how well they order the schedules, and how far off their times
// are. Beside them stands what measuring again would have given, which no model
// can beat. Prints a table by family to `out` and returns it as JSON.
// Errors: those of reading data, split and weights; InvalidArgument if the
// split holds out no kernel of the data.
absl::StatusOr<nlohmann::ordered_json> RunKernelCostBench(
    const KernelCostBenchOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_KERNEL_COST_BENCH_H_
