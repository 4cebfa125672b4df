#ifndef HONE_LOOPS_LOWERING_PREPARE_H_
#define HONE_LOOPS_LOWERING_PREPARE_H_

#include "absl/status/statusor.h"

#include "hlo/ir/module.h"

namespace hone::loops {

// Returns a copy of the module that computes the same, with fewer forms and in
// less time: the entry's parameters and results keep their bytes. Calls and
// fusions are inlined, constants are arrays, batch normalization,
// select-and-scatter and topk are expanded into other opcodes, linear algebra
// and FFTs are calls of library functions (library_calls.h), and complex arrays
// are pairs of real ones (complex_expansion.h). The rest is in rewrites/, of
// which three change how results round: chains and sums of 16-bit floats are
// computed in f32 (widen_chains.h, widen_sums.h), and erfc by another
// approximation (shorten_erfc.h).
// Returns Unimplemented if inlining would make the module explode, or naming a
// call that no library function can do.
absl::StatusOr<hlo::Module> PrepareForLowering(const hlo::Module& module);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_PREPARE_H_
