#ifndef HONE_BACKENDS_CPU_MEASURE_CALIBRATION_H_
#define HONE_BACKENDS_CPU_MEASURE_CALIBRATION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace hone::backends {

// The current speed of this machine, measured with kernels of our own compiler.
// The reference for measured times (roofline.h).
struct Calibration {
  // The bandwidth of all threads together on a working set of `bytes`.
  struct Level {
    int64_t bytes = 0;
    double read_gbps = 0;
    // Bytes read plus bytes written, with non-temporal stores if they are
    // faster.
    double copy_gbps = 0;
  };
  int32_t threads = 1;
  // The rate of f32 fused multiply-adds, two operations each.
  double peak_gflops = 0;
  // The same of f64, and of the fastest instructions for dots: of bf16 with
  // sums in f32, of s16 and of bytes with sums in s32. 0 if unknown, as from
  // workers of older versions, which count as the rate of f32.
  double f64_gflops = 0;
  double bf16_dot_gflops = 0;
  double s16_dot_gflops = 0;
  double s8_dot_gflops = 0;
  std::vector<Level> levels;  // by growing size
};

// Measures this machine; takes about a second. Errors: those of the compiler.
absl::StatusOr<Calibration> Calibrate(int32_t threads);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_MEASURE_CALIBRATION_H_
