#ifndef HONE_BACKENDS_CPU_CALIBRATION_H_
#define HONE_BACKENDS_CPU_CALIBRATION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace hone::backends {

// How fast this machine is at this moment, by kernels that our own compiler
// makes: what measured times are set in relation to.
struct Calibration {
  // Of a working set of that many bytes, by all threads together.
  struct Level {
    int64_t bytes = 0;
    double read_gbps = 0;
    // Bytes read and bytes written together, stores past the caches where they
    // are faster.
    double copy_gbps = 0;
  };
  int32_t threads = 1;
  // Fused multiply-adds of f32, two operations each, in 10^9 per second.
  double peak_gflops = 0;
  std::vector<Level> levels;  // by growing size
};

// Takes about a second.
// Errors: those of the compiler.
absl::StatusOr<Calibration> Calibrate(int32_t threads);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_CALIBRATION_H_
