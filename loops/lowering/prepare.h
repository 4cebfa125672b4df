#ifndef HONE_LOOPS_LOWERING_PREPARE_H_
#define HONE_LOOPS_LOWERING_PREPARE_H_

#include "absl/status/statusor.h"

#include "hlo/ir/module.h"

namespace hone::loops {

// Returns a copy of the module in which calls and fusions are inlined,
// constants are arrays, batch normalization, select-and-scatter and topk are
// expanded into other opcodes, and sums of 16-bit floats are sums in f32
// (widen_sums.h). Returns Unimplemented if inlining would make the module
// explode.
absl::StatusOr<hlo::Module> PrepareForLowering(const hlo::Module& module);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_PREPARE_H_
