#ifndef HONE_BACKENDS_CPU_HOST_H_
#define HONE_BACKENDS_CPU_HOST_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "backends/kernel_measurer.h"
#include "loops/transforms/machine.h"

namespace hone::backends {

// The processor that this process runs on.
struct HostCpu {
  // LLVM's name ("znver4") and feature string ("+avx2,+fma,-sse4a,…").
  std::string name;
  std::string features;
  // The model as the system prints it.
  std::string model;
  loops::Machine machine;
};

// Returns the width of the widest vector register of a processor with this
// feature string.
int64_t VectorBytes(absl::string_view features);
// Return true if such a processor has instructions for sums of products of
// adjacent elements.
bool HasBf16Dot(absl::string_view features);
bool HasIntegerDot(absl::string_view features);

// Returns a feature string without the instruction sets that are newer than
// `isa`: "avx2" leaves out AVX-512, AMX and what extends AVX2; "" and "native"
// nothing. Errors: InvalidArgument for another name.
absl::StatusOr<std::string> LimitFeatures(absl::string_view features,
                                          absl::string_view isa);

// Returns the host processor, detected once, with its features limited by
// HONE_CPU_ISA (base/processor.h) if that is a name. Caches and cores are those
// that the system reports; cores only those that this process may run on.
const HostCpu& DetectHost();

// Returns the host as a device that kernels are measured on.
const KernelDevice& HostDevice();

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_HOST_H_
