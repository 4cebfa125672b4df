#ifndef HONE_LOOPS_LOWERING_UNSUPPORTED_H_
#define HONE_LOOPS_LOWERING_UNSUPPORTED_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "hlo/ir/computation.h"

namespace hone::loops {

// Unimplemented, with opcode and name of the instruction; `why` may be empty.
absl::Status Unsupported(const hlo::Instruction& instruction,
                         absl::string_view why = "");

// Whether kernels compute with elements of that type: pred, integers of 8 to
// 64 bits, f16, bf16, f32 and f64.
bool IsSupportedType(hlo::ElementType type);

// OK where the shape is a static array of a supported type, or a tuple of such.
// Errors: Unimplemented, naming `instruction`.
absl::Status CheckShape(const hlo::Instruction& instruction,
                        const hlo::Shape& shape);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_UNSUPPORTED_H_
