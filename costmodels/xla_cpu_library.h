#ifndef HONE_COSTMODELS_XLA_CPU_LIBRARY_H_
#define HONE_COSTMODELS_XLA_CPU_LIBRARY_H_

#include "hlo/ir/module.h"

// The operations that XLA:CPU leaves to YNNPACK. Source: see xla_cpu_kernels.h.
namespace hone::costmodels {

// Returns true for a convolution that XLA turns into a dot, as its kernel has
// one element but for features.
bool IsPointwise(const hlo::Computation& computation,
                 const hlo::Instruction& convolution);

bool StartsLibraryCall(const hlo::Module& module,
                       const hlo::Computation& computation,
                       const hlo::Instruction& instruction);
// Returns true if a library call that is a neighbor may take it in.
bool LibraryCallTakes(const hlo::Module& module,
                      const hlo::Computation& computation,
                      const hlo::Instruction& instruction);

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_XLA_CPU_LIBRARY_H_
