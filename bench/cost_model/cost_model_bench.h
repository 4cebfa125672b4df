#ifndef HONE_BENCH_COST_MODEL_COST_MODEL_BENCH_H_
#define HONE_BENCH_COST_MODEL_COST_MODEL_BENCH_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

struct CostModelBenchOptions {
  // Files of weights, one of each seed; none: the model that comes with Hone.
  std::vector<std::string> weights;
  std::string tpu = "v4";
  // A data file of this TPU (hone dataset tpu) from which the models learn
  // `refine_samples` configurations of families that are not held out, before
  // they predict; empty: none.
  std::string refine;
  int64_t refine_samples = 1000;
  // A data file: kernels equal to one of it that models may have learned from
  // are left out; empty: none.
  std::string leave_out;
  // The split whose test families are predicted (ReadFamilySplit).
  std::string split = "bench/data/cost_model/tpu_split.json";
  std::string corpus = "bench/data/corpus";
  std::string partitions = "bench/data/partition";
  // A regular expression that program names must match; empty: all.
  std::string only;
  // The most tiles of a kernel; if it has more, so many are drawn.
  int64_t tiles = 256;
  uint64_t seed = 0;
  // A folder for cost_model.svg: predicted against true times of kernels with
  // default tiles, by the first learned model; empty: none.
  std::string plots;
};

// Compares a learned and the analytical model of kernels on a simulated TPU, on
// programs of families that were never trained on: what selecting each kernel's
// tile by them costs (tile APE), and how far off the times of kernels are that
// they predict (fusion MAPE), in the form of the published tables of Kaufman et
// al., "A Learned Performance Model for Tensor Processing Units", 2021. Prints
// the table to `out` and returns it as JSON.
// Errors: those of reading programs, split and weights.
absl::StatusOr<nlohmann::ordered_json> RunCostModelBench(
    const CostModelBenchOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_COST_MODEL_BENCH_H_
