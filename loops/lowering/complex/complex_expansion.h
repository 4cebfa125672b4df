#ifndef HONE_LOOPS_LOWERING_COMPLEX_COMPLEX_EXPANSION_H_
#define HONE_LOOPS_LOWERING_COMPLEX_COMPLEX_EXPANSION_H_

#include "absl/status/status.h"

#include "hlo/ir/module.h"

namespace hone::loops {

// Replaces complex arrays by pairs of real arrays, their real and imaginary
// parts; loop programs have real numbers only. A complex element of a tuple
// becomes a tuple of two. Parameters and results of the entry computation keep
// their bytes: c64[n] becomes f32[n,2]. So do operands and results of library
// functions, except for those of FFTs, which are pairs.
//
// Needs a module without calls. Returns Unimplemented, naming the instruction,
// for opcodes that have no definition on complex numbers here.
absl::Status ExpandComplex(hlo::Module& module);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_COMPLEX_COMPLEX_EXPANSION_H_
