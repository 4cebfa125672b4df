#ifndef HONE_HLO_REWRITE_BUILDER_H_
#define HONE_HLO_REWRITE_BUILDER_H_

#include "absl/types/span.h"

#include "hlo/ir/computation.h"
#include "hlo/rewrite/dimensions.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/reductions.h"
#include "hlo/rewrite/values.h"

namespace hone::hlo {

// Instructions to add by hand; passes that go through a Rewriter use makers.h.
Instruction MakeUnary(Opcode opcode, const Computation& computation,
                      InstructionId operand);
Instruction MakeBinary(Opcode opcode, const Computation& computation,
                       InstructionId lhs, InstructionId rhs);
Instruction MakeReshape(const Computation& computation, InstructionId operand,
                        absl::Span<const int64_t> dimensions);
Instruction MakeBroadcast(const Computation& computation, InstructionId operand,
                          absl::Span<const int64_t> result_dimensions,
                          absl::Span<const int64_t> mapping);
Instruction MakeTranspose(const Computation& computation, InstructionId operand,
                          absl::Span<const int64_t> permutation);
Instruction MakeSlice(const Computation& computation, InstructionId operand,
                      absl::Span<const SliceDimension> slice);
Instruction MakeFilledConstant(const Literal& value,
                               absl::Span<const int64_t> dimensions);

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_BUILDER_H_
