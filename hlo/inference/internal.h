#ifndef HONE_HLO_INFERENCE_INTERNAL_H_
#define HONE_HLO_INFERENCE_INTERNAL_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

#include "hlo/ir/module.h"

// Shared by the shape_inference_*.cc files, one per family of opcodes, and the
// verifier.
namespace hone::hlo::inference {

// The input of a family's function. Every operand has a shape.
struct Context {
  const Module& module;
  const Computation& computation;
  const Instruction& instruction;

  Opcode opcode() const { return instruction.opcode(); }
  size_t operand_count() const { return instruction.operand_count(); }
  const Shape& operand(size_t i) const { return *operand_ptr(i); }
  const ShapePtr& operand_ptr(size_t i) const {
    return computation[instruction.operand(i)].shape_ptr();
  }
  const Attributes& attributes() const { return instruction.attributes(); }
  const DimensionVector& dimensions() const { return attributes().dimensions; }
  // The shape that the instruction has so far; may be null.
  const ShapePtr& given() const { return instruction.shape_ptr(); }
};

using Result = absl::StatusOr<ShapePtr>;

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// Index as size_t: dimension numbers are int64_t everywhere.
inline size_t Index(int64_t i) { return static_cast<size_t>(i); }

// Returns true if two shapes are the same but for layouts, dynamic flags and
// unbounded dimensions (of tuple elements: InferShape leaves unbounded arrays
// alone).
bool Compatible(const Shape& a, const Shape& b);

// The array of that type and those sizes: the given shape where it agrees, so
// that its layout stays and nothing is allocated.
ShapePtr ArrayOf(const Context& context, ElementType type,
                 absl::Span<const int64_t> sizes);
// `shape`, or the given shape where it agrees.
ShapePtr PreferGiven(const Context& context, const ShapePtr& shape);
// A tuple of `elements`, or the given shape where it agrees; for one element
// that element itself.
ShapePtr TupleOrSingle(const Context& context, std::vector<ShapePtr> elements);

absl::Status ExpectOperandCount(const Context& context, size_t count);
absl::Status ExpectAtLeastOperands(const Context& context, size_t count);
// Operand i is an array.
absl::Status ExpectArray(const Context& context, size_t i);
absl::Status ExpectArrays(const Context& context);
// Operand i has that element type.
absl::Status ExpectType(const Context& context, size_t i, ElementType type);
absl::Status ExpectRank(const Context& context, size_t i, int64_t rank);
// Operand i is a scalar of an integral type.
absl::Status ExpectIndexScalar(const Context& context, size_t i);
// Operands a and b have equal sizes.
absl::Status ExpectSameSizes(const Context& context, size_t a, size_t b);
// The given shape is an array; for opcodes whose type or sizes only it says.
absl::Status ExpectGivenArray(const Context& context);

// Every entry of the attribute `name` in [0, rank), no entry twice.
absl::Status ExpectDistinct(absl::string_view name,
                            absl::Span<const int64_t> dimensions, int64_t rank);
// The attribute `name` has `count` entries.
absl::Status ExpectCount(absl::string_view name, size_t actual, size_t count);

// The computation called in position i, with its parameters and root present.
absl::StatusOr<const Computation*> Callee(const Context& context, size_t i);
// The callee's parameters are `parameters`; the message calls it `role`.
absl::Status ExpectParameters(absl::string_view role, const Computation& callee,
                              absl::Span<const ShapePtr> parameters);

// The result type of a product of elements of `lhs` and `rhs` types: the given
// one where it can hold the result (preferred element type), else the common
// one.
absl::StatusOr<ElementType> ProductType(const Context& context);

// Sizes of a windowed result over `sizes`.
absl::StatusOr<DimensionVector> WindowedSizes(const Window& window,
                                              absl::Span<const int64_t> sizes);

// Checks a reducer called in position i over scalars of those accumulator and
// input types.
absl::Status ExpectReducer(const Context& context, size_t i,
                           absl::Span<const ElementType> types);

// `result` has every operand grown along the dimension of an all-gather.
absl::Status ExpectGathered(const Context& context, const Shape& result);

// One function per family; each handles the opcodes that the dispatch in
// shape_inference.cc names.
Result InferUnary(const Context& context);
Result InferBinary(const Context& context);
Result InferCompare(const Context& context);
Result InferSelect(const Context& context);
Result InferClamp(const Context& context);
Result InferComplex(const Context& context);
Result InferConvert(const Context& context);
Result InferBitcastConvert(const Context& context);

Result InferBroadcast(const Context& context);
Result InferReshape(const Context& context);
Result InferBitcast(const Context& context);
Result InferTranspose(const Context& context);
Result InferReverse(const Context& context);
Result InferSlice(const Context& context);
Result InferDynamicSlice(const Context& context);
Result InferDynamicUpdateSlice(const Context& context);
Result InferPad(const Context& context);
Result InferConcatenate(const Context& context);
Result InferIota(const Context& context);
Result InferGetDimensionSize(const Context& context);
Result InferSetDimensionSize(const Context& context);

Result InferDot(const Context& context);
Result InferConvolution(const Context& context);
Result InferReduceWindow(const Context& context);
Result InferSelectAndScatter(const Context& context);

Result InferGather(const Context& context);
Result InferScatter(const Context& context);

Result InferReduce(const Context& context);
Result InferSort(const Context& context);
Result InferMap(const Context& context);
Result InferTuple(const Context& context);
Result InferGetTupleElement(const Context& context);
Result InferCall(const Context& context);
Result InferWhile(const Context& context);
Result InferConditional(const Context& context);

Result InferBatchNorm(const Context& context);
Result InferCholesky(const Context& context);
Result InferTriangularSolve(const Context& context);
Result InferFft(const Context& context);
Result InferTopK(const Context& context);
Result InferRngBitGenerator(const Context& context);

Result InferCollective(const Context& context);
Result InferAsyncCall(const Context& context);
Result InferStart(const Context& context);
Result InferDone(const Context& context);
Result InferFeed(const Context& context);
Result InferTransfer(const Context& context);
Result InferRng(const Context& context);

}  // namespace hone::hlo::inference

#endif  // HONE_HLO_INFERENCE_INTERNAL_H_
