#ifndef HONE_TESTS_BACKENDS_TPU_SIM_KERNELS_H_
#define HONE_TESTS_BACKENDS_TPU_SIM_KERNELS_H_

#include <string>
#include <vector>

#include "hlo/ir/module.h"

namespace hone::testing {

struct TpuKernel {
  std::string name;
  // The lines of the entry computation; `add`, `max` and `lt` can be applied.
  std::string lines;
};

// Kernels of all kinds of opcodes, small enough for a simulation of each cycle.
const std::vector<TpuKernel>& TpuKernels();

// The module with this entry computation. It verifies, but for opcodes that
// Hone does not know.
hlo::Module ParseTpuKernel(const std::string& lines);

}  // namespace hone::testing

#endif  // HONE_TESTS_BACKENDS_TPU_SIM_KERNELS_H_
