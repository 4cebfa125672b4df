#ifndef HONE_BACKENDS_CPU_HOST_H_
#define HONE_BACKENDS_CPU_HOST_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

#include "backends/kernel_measurer.h"
#include "loops/machine.h"

namespace hone::backends {

// The processor that this process runs on, as compilers and schedules see it.
struct HostCpu {
  // LLVM's name ("znver4") and feature string ("+avx2,+fma,-sse4a,…").
  std::string name;
  std::string features;
  // The model as the system prints it.
  std::string model;
  loops::Machine machine;
};

// Of the widest register of a processor with that feature string.
int64_t VectorBytes(absl::string_view features);

// Asked once; what caches and cores there are comes from the system, cores
// being those that this process may run on.
const HostCpu& DetectHost();

// The same as a device that kernels are measured on.
const KernelDevice& HostDevice();

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_HOST_H_
