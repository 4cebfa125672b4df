#ifndef HONE_BACKENDS_ROOFLINE_H_
#define HONE_BACKENDS_ROOFLINE_H_

#include "backends/cpu/measure/calibration.h"
#include "hlo/ir/module.h"

namespace hone::backends {

// The minimum work of any code for a module: its floating-point operations, and
// one read of its parameters and one write of its results.
struct LeastWork {
  double flops = 0;
  double bytes_read = 0;
  double bytes_written = 0;
};
LeastWork LeastWorkOf(const hlo::Module& module);

// Returns the roofline: the least time, in nanoseconds, that the work can take.
// Source: Williams, Waterman and Patterson, "Roofline", 2009; the bandwidth is
// that of a working set of all bytes of the work, interpolated between levels
// of the calibration by the logarithm of their sizes.
double RooflineNs(const Calibration& calibration, const LeastWork& work);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_ROOFLINE_H_
