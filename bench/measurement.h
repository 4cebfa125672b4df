#ifndef HONE_BENCH_MEASUREMENT_H_
#define HONE_BENCH_MEASUREMENT_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

struct MeasurementOptions {
  // Folder of the kernel suite.
  std::string suite = "bench/data/kernels";
  // Of each kernel with itself.
  int32_t comparisons = 100;
  // Samples of the other figures.
  int32_t rounds = 200;
};

// What measuring kernels costs and how far it is to be trusted: how often a
// schedule compared with itself is found to be faster or slower (the interval
// of its ratio leaves out 1), what a child process for a candidate costs, and
// how long listing the legal moves of a scheduled matmul takes.
// It measures in processes of `hone`, so this has to be that program.
absl::StatusOr<nlohmann::ordered_json> RunMeasurementBench(
    const MeasurementOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_MEASUREMENT_H_
