#ifndef HONE_BENCH_MEASUREMENT_H_
#define HONE_BENCH_MEASUREMENT_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

struct MeasurementOptions {
  // The folder of the kernel suite.
  std::string suite = "bench/data/kernels";
  // The number of comparisons of each kernel with itself.
  int32_t comparisons = 100;
  // The number of samples of the other figures.
  int32_t rounds = 200;
};

// Measures the cost and the reliability of kernel measurements: how often a
// schedule compared with itself is found faster or slower (the interval of its
// ratio excludes 1), the time of a child process for a candidate, and the time
// to list the legal moves of a scheduled matmul. Measures in child processes of
// `hone`, so the caller must be that program.
absl::StatusOr<nlohmann::ordered_json> RunMeasurementBench(
    const MeasurementOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_MEASUREMENT_H_
