#ifndef HONE_HLO_REWRITE_MAKERS_H_
#define HONE_HLO_REWRITE_MAKERS_H_

#include <cstdint>
#include <memory>

#include "absl/types/span.h"

#include "hlo/rewrite/rewriter.h"

namespace hone::hlo {

// Makers add one instruction and return its id. They infer the shape of the
// result; operands or attributes that do not fit are an error of the pass that
// names the place of the call (Rewriter::status), and the result is then
// kNoInstruction, which other makers accept.

// A constant, shared with nobody.
InstructionId MakeConstant(Rewriter& r, Literal literal,
                           Place place = Place::current());
// An array of the given sizes whose elements are all the scalar `value`: a
// constant, broadcast unless `sizes` is empty.
InstructionId MakeUniform(Rewriter& r, Literal value,
                          absl::Span<const int64_t> sizes,
                          Place place = Place::current());
// The same as one constant, without a broadcast.
InstructionId MakeFilledConstant(Rewriter& r, const Literal& value,
                                 absl::Span<const int64_t> sizes,
                                 Place place = Place::current());

// An operation that its opcode and operands determine: elementwise ones other
// than compare and convert, tuple, copy, opt-barrier and the like.
InstructionId Make(Rewriter& r, Opcode opcode,
                   absl::Span<const InstructionId> operands,
                   Place place = Place::current());
InstructionId MakeUnary(Rewriter& r, Opcode opcode, InstructionId operand,
                        Place place = Place::current());
InstructionId MakeBinary(Rewriter& r, Opcode opcode, InstructionId lhs,
                         InstructionId rhs, Place place = Place::current());
// The operation of `prototype`, its attributes, called computations and index
// included, on other operands, whatever their shapes.
InstructionId MakeLike(Rewriter& r, InstructionId prototype,
                       absl::Span<const InstructionId> operands,
                       Place place = Place::current());
// Likewise with other attributes: other dimension numbers, say.
InstructionId MakeLike(Rewriter& r, InstructionId prototype,
                       absl::Span<const InstructionId> operands,
                       Attributes attributes, Place place = Place::current());

// Likewise with another element type. For operations that the type does not
// change: those that move elements, and elementwise arithmetic.
InstructionId MakeLike(Rewriter& r, InstructionId prototype,
                       absl::Span<const InstructionId> operands,
                       ElementType type, Place place = Place::current());

InstructionId MakeCompare(Rewriter& r, ComparisonDirection direction,
                          InstructionId lhs, InstructionId rhs,
                          Place place = Place::current());
// pred ? on_true : on_false
InstructionId MakeSelect(Rewriter& r, InstructionId pred, InstructionId on_true,
                         InstructionId on_false,
                         Place place = Place::current());
// The operand itself where it has that type already; so for the makers below
// where nothing changes.
InstructionId MakeConvert(Rewriter& r, InstructionId operand, ElementType type,
                          Place place = Place::current());

InstructionId MakeReshape(Rewriter& r, InstructionId operand,
                          absl::Span<const int64_t> sizes,
                          Place place = Place::current());
// Dimension i of the operand becomes dimension `mapping[i]` of the result; an
// instruction in any case.
InstructionId MakeBroadcast(Rewriter& r, InstructionId operand,
                            absl::Span<const int64_t> sizes,
                            absl::Span<const int64_t> mapping,
                            Place place = Place::current());
// Dimension i of the result is dimension `permutation[i]` of the operand.
InstructionId MakeTranspose(Rewriter& r, InstructionId operand,
                            absl::Span<const int64_t> permutation,
                            Place place = Place::current());
InstructionId MakeSlice(Rewriter& r, InstructionId operand,
                        absl::Span<const SliceDimension> slice,
                        Place place = Place::current());
InstructionId MakePad(Rewriter& r, InstructionId operand, InstructionId value,
                      absl::Span<const PaddingDimension> padding,
                      Place place = Place::current());
InstructionId MakeConcatenate(Rewriter& r,
                              absl::Span<const InstructionId> operands,
                              int64_t dimension,
                              Place place = Place::current());
InstructionId MakeIota(Rewriter& r, ElementType type,
                       absl::Span<const int64_t> sizes, int64_t dimension,
                       Place place = Place::current());
// `starts` has a scalar per dimension of the operand.
InstructionId MakeDynamicSlice(Rewriter& r, InstructionId operand,
                               absl::Span<const InstructionId> starts,
                               absl::Span<const int64_t> sizes,
                               Place place = Place::current());
InstructionId MakeDynamicUpdateSlice(Rewriter& r, InstructionId operand,
                                     InstructionId update,
                                     absl::Span<const InstructionId> starts,
                                     Place place = Place::current());

// `region` takes two scalars of the operand's type.
InstructionId MakeReduce(Rewriter& r, InstructionId operand, InstructionId init,
                         absl::Span<const int64_t> dimensions,
                         ComputationId region, Place place = Place::current());
// `precision` gives operand_precision and algorithm; kNoInstruction for the
// default ones.
InstructionId MakeDot(Rewriter& r, InstructionId lhs, InstructionId rhs,
                      const DotDimensions& dimensions, ElementType type,
                      InstructionId precision, Place place = Place::current());

InstructionId MakeTuple(Rewriter& r, absl::Span<const InstructionId> elements,
                        Place place = Place::current());
InstructionId MakeGetTupleElement(Rewriter& r, InstructionId tuple,
                                  int32_t index,
                                  Place place = Place::current());

// Attributes that hold nothing but `dimensions`.
std::shared_ptr<const Attributes> DimensionAttributes(
    absl::Span<const int64_t> dimensions);

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_MAKERS_H_
