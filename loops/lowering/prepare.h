#ifndef HONE_LOOPS_LOWERING_PREPARE_H_
#define HONE_LOOPS_LOWERING_PREPARE_H_

#include "absl/status/statusor.h"

#include "hlo/ir/module.h"

namespace hone::loops {

// Returns a copy of the module in which calls and fusions are inlined,
// constants are arrays, batch normalization, select-and-scatter and topk are
// expanded into other opcodes, linear algebra and FFTs are calls of library
// functions (library_calls.h), loops read the matrices of products as little
// as they can (hoist_dots.h, sink_dots.h, block_matrices.h), sums of 16-bit
// floats are sums in f32
// (widen_sums.h), and complex arrays are pairs of real ones
// (complex_expansion.h): the entry's parameters and results keep their bytes.
// Returns Unimplemented if inlining would make the module explode, or naming a
// call that no library function can do.
absl::StatusOr<hlo::Module> PrepareForLowering(const hlo::Module& module);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_PREPARE_H_
