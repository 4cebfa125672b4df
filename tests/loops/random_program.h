#ifndef HONE_TESTS_LOOPS_RANDOM_PROGRAM_H_
#define HONE_TESTS_LOOPS_RANDOM_PROGRAM_H_

#include <cstdint>
#include <vector>

#include "hlo/ir/literal.h"
#include "loops/ir/program.h"

namespace hone::testing {

// A random valid program for tests of properties: a few nests over small
// buffers that read what earlier ones wrote, with reductions, wheres, splits
// that do not divide, locals of every memory and place, predicates, flat and
// data-dependent accesses, several types, and modes that keep the meaning.
//
// It can be interpreted on any arguments of RandomArguments. Floats stay of
// moderate size, so that rounding in another order changes little; what is
// compared or converted to integers is not rounded.
//
// Determinism: the program depends on the seed only.
loops::Program RandomProgram(uint64_t seed);

// Arguments that fit: floats about normal, integers in [0, 8).
std::vector<hlo::Literal> RandomArguments(const loops::Program& program,
                                          uint64_t seed);

}  // namespace hone::testing

#endif  // HONE_TESTS_LOOPS_RANDOM_PROGRAM_H_
