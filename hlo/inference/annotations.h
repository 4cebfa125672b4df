#ifndef HONE_HLO_INFERENCE_ANNOTATIONS_H_
#define HONE_HLO_INFERENCE_ANNOTATIONS_H_

#include <cstdint>

#include "absl/status/status.h"

#include "hlo/ir/instruction.h"

namespace hone::hlo::inference {

// Checks what an instruction says beside its opcode against its shape:
//
// - sharding: as many parts as the tuple has arrays, or one for all; as many
//   tile dimensions as the array has, tiles for as many devices as are listed,
//   devices below `partitions` if that is over 1.
// - origin: a tree of the shape's form.
//
// Forms that Hone does not know pass.
// Errors: InvalidArgument, saying what was found and expected.
absl::Status VerifyAnnotations(const Instruction& instruction,
                               int64_t partitions);

}  // namespace hone::hlo::inference

#endif  // HONE_HLO_INFERENCE_ANNOTATIONS_H_
