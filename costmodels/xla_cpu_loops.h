#ifndef HONE_COSTMODELS_XLA_CPU_LOOPS_H_
#define HONE_COSTMODELS_XLA_CPU_LOOPS_H_

#include "absl/types/span.h"

#include "costmodels/xla_cpu_features.h"
#include "hlo/ir/module.h"

namespace hone::costmodels {

// Adds the features of a loop that XLA:CPU generates for `members`: for every
// element of `root` it computes what the members say, each once for every index
// that it is asked for, and reads what is outside. Indices are followed from
// the root's loops through transposes, broadcasts and so on, so that we know
// what runs along memory and what strides.
void AddLoopFeatures(const hlo::Module& module,
                     const hlo::Computation& computation,
                     absl::Span<const hlo::InstructionId> members,
                     hlo::InstructionId root, XlaCpuFeatures& features);

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_XLA_CPU_LOOPS_H_
