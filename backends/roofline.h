#ifndef HONE_BACKENDS_ROOFLINE_H_
#define HONE_BACKENDS_ROOFLINE_H_

#include "backends/cpu/calibration.h"
#include "hlo/ir/module.h"

namespace hone::backends {

// The least that code for a module has to do: its floating-point operations,
// and reading its parameters and writing its results once.
struct LeastWork {
  double flops = 0;
  double bytes_read = 0;
  double bytes_written = 0;
};
LeastWork LeastWorkOf(const hlo::Module& module);

// The least time, in nanoseconds, that the work can take: the roofline.
// Source: Williams, Waterman and Patterson, "Roofline", 2009; the bandwidth is
// that of a working set of all of the work's bytes, between two levels of the
// calibration by the logarithm of their sizes.
double RoofNanoseconds(const Calibration& calibration, const LeastWork& work);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_ROOFLINE_H_
