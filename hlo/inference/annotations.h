#ifndef HONE_HLO_INFERENCE_ANNOTATIONS_H_
#define HONE_HLO_INFERENCE_ANNOTATIONS_H_

#include <cstdint>

#include "absl/status/status.h"

#include "hlo/ir/instruction.h"

// Attributes that HLO text holds beside opcodes and shapes. The rules are
// XLA's; Hone also refuses what XLA reads but what has no meaning: a
// transposition that names a dimension twice, two aliases of one output, a
// negative count. Errors:
// InvalidArgument, saying what was found and expected.
namespace hone::hlo::inference {

// Checks what an instruction says beside its opcode against its shape:
//
// - sharding: in XLA's grammar; one for all arrays, or in inner braces one for
//   each array of a tuple; as many tile dimensions as the array has, tiles for
//   as many devices as are listed, devices distinct and, if `partitions` is
//   over 1, as many as and below `partitions`.
// - origin: a tree of the shape's form.
//
// Named shardings (`mesh[…]`) and keys that Hone does not know (`name=…`) pass:
// newer versions of XLA may add some.
absl::Status VerifyAnnotations(const Instruction& instruction,
                               int64_t partitions);

}  // namespace hone::hlo::inference

#endif  // HONE_HLO_INFERENCE_ANNOTATIONS_H_
