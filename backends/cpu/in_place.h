#ifndef HONE_BACKENDS_CPU_IN_PLACE_H_
#define HONE_BACKENDS_CPU_IN_PLACE_H_

#include <cstdint>

#include "loops/ir/program.h"

namespace hone::backends {

// Returns true if the code of `program` computes the same when the result is
// the memory of the argument (conservative). Each element of the argument may
// only be read by the iteration of the statement that writes it: emitted code
// takes the two for different memory, and orders nothing else.
bool MayRunInPlace(const loops::Program& program, int32_t argument,
                   int32_t result);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_IN_PLACE_H_
