#ifndef HONE_HLO_REWRITE_BUILDER_H_
#define HONE_HLO_REWRITE_BUILDER_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/types/span.h"

#include "hlo/ir/computation.h"

namespace hone::hlo {

// Small matchers and makers that passes share. Makers return an instruction
// that Computation::AddInstruction takes; they do not check their arguments
// beyond what the result shape needs.

// The value of a constant array; null for other instructions, for tuples and
// for constants whose value the text left out (Literal::is_elided).
const Literal* ConstantLiteral(const Computation& computation,
                               InstructionId id);

// The literal of an instruction whose elements all have one known value: a
// constant of one element, or broadcasts and reshapes of one. Element 0 of the
// result is that value. Null otherwise.
const Literal* UniformLiteral(const Computation& computation, InstructionId id);

// Whether `id` is uniform (UniformLiteral) with this value; -0.0 equals 0.0.
// False for complex types.
bool IsUniform(const Computation& computation, InstructionId id, double value);

// The operand of a broadcast of a scalar, or `id` itself if it is a scalar;
// kNoInstruction otherwise.
InstructionId ScalarSource(const Computation& computation, InstructionId id);

Instruction MakeUnary(Opcode opcode, const Computation& computation,
                      InstructionId operand);
// The shape is the first operand's.
Instruction MakeBinary(Opcode opcode, const Computation& computation,
                       InstructionId lhs, InstructionId rhs);
// Operand `operand` with other dimensions and the same number of elements.
Instruction MakeReshape(const Computation& computation, InstructionId operand,
                        absl::Span<const int64_t> dimensions);
// Dimension i of the operand becomes dimension `mapping[i]` of the result.
Instruction MakeBroadcast(const Computation& computation, InstructionId operand,
                          absl::Span<const int64_t> result_dimensions,
                          absl::Span<const int64_t> mapping);
// Dimension i of the result is dimension `permutation[i]` of the operand.
Instruction MakeTranspose(const Computation& computation, InstructionId operand,
                          absl::Span<const int64_t> permutation);
Instruction MakeSlice(const Computation& computation, InstructionId operand,
                      absl::Span<const SliceDimension> slice);
// An array of the given dimensions whose elements are all `value`, a scalar.
// One constant instruction: no broadcast.
Instruction MakeFilledConstant(const Literal& value,
                               absl::Span<const int64_t> dimensions);

// Attributes that hold nothing but `dimensions`.
std::shared_ptr<const Attributes> DimensionAttributes(
    absl::Span<const int64_t> dimensions);

// 0, 1, …, size-1.
DimensionVector IdentityPermutation(int64_t size);
bool IsIdentityPermutation(absl::Span<const int64_t> permutation);
DimensionVector InversePermutation(absl::Span<const int64_t> permutation);

// Where the dimensions `ids` of an array of dimensions `from` are found, with
// the same size and stride, after a reshape to dimensions `to`; nullopt when
// the reshape splits or merges one of them. Of size-1 dimensions, which could
// be anywhere among their neighbours, order decides; ids must be ascending.
std::optional<DimensionVector> UnmodifiedDimensions(
    absl::Span<const int64_t> from, absl::Span<const int64_t> to,
    absl::Span<const int64_t> ids);

// Whether a reshape between these only inserts or deletes dimensions of size 1.
bool OnlyDegenerateDimensionsDiffer(absl::Span<const int64_t> a,
                                    absl::Span<const int64_t> b);

// The opcode of a region `(a, b) -> op(a, b)` of two scalar parameters with
// op associative and commutative (add, multiply, maximum, minimum, and, or,
// xor); nullopt for every other region.
std::optional<Opcode> ReductionOpcode(const Computation& region);

// Whether `value` (a scalar) is the identity of that reduction: op(x, value)
// is x for every x up to the sign of zero.
bool IsReductionIdentity(Opcode opcode, const Literal& value);

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_BUILDER_H_
