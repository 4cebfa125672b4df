#ifndef HONE_BACKENDS_CPU_IN_PLACE_H_
#define HONE_BACKENDS_CPU_IN_PLACE_H_

#include <cstdint>

#include "loops/ir/program.h"
#include "loops/lowering/plan/module_plan.h"

namespace hone::backends {

// Returns true if the code of `program` computes the same when the result is
// the memory of the argument (conservative). Each element of the argument may
// only be read by the iteration of the statement that writes it: emitted code
// takes the two for different memory, and orders nothing else.
bool MayRunInPlace(const loops::Program& program, int32_t argument,
                   int32_t result);

// The same for a parameter and a result of the plan's entry: no step reads the
// parameter after the first that writes the result, and a kernel that does
// both may run in place.
bool MayRunInPlace(const loops::ModulePlan& plan, int32_t argument,
                   int32_t result);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_IN_PLACE_H_
