#ifndef HONE_BACKENDS_ROOFLINE_H_
#define HONE_BACKENDS_ROOFLINE_H_

#include "backends/cpu/measure/calibration.h"
#include "hlo/ir/module.h"

namespace hone::backends {

// The minimum work of any code for a module: its operations by the rate at
// which a processor does them, and one read of its parameters and one write of
// its results.
struct LeastWork {
  // Operations that are none of those below.
  double flops = 0;
  double f64_flops = 0;
  // Contractions of bf16 with sums in f32; operands that were converted from
  // bf16 count as bf16.
  double bf16_dot_flops = 0;
  // Operations on integers of 16 and of 8 bits, and contractions of such
  // operands to any integers.
  double s16_flops = 0;
  double s8_flops = 0;
  double bytes_read = 0;
  double bytes_written = 0;
};
LeastWork LeastWorkOf(const hlo::Module& module);

// Returns the roofline: the least time, in nanoseconds, that the work can take.
// Operations of different rates may overlap. Source: Williams, Waterman and
// Patterson, "Roofline", 2009; the bandwidth is that of a working set of all
// bytes of the work, interpolated between levels of the calibration by the
// logarithm of their sizes.
double RooflineNs(const Calibration& calibration, const LeastWork& work);

// The same, but at most `measured_ns`, the time of code that does the work: a
// faster kernel shows that the machine is faster than the calibration.
double RooflineNs(const Calibration& calibration, const LeastWork& work,
                  double measured_ns);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_ROOFLINE_H_
