#ifndef HONE_HLO_EVALUATOR_ELEMENTWISE_ELEMENTWISE_H_
#define HONE_HLO_EVALUATOR_ELEMENTWISE_ELEMENTWISE_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"

#include "hlo/ir/attributes.h"
#include "hlo/ir/element_type.h"
#include "hlo/ir/opcode.h"

namespace hone::hlo::evaluator {

// Computes `n` elements of one instruction: operands[i] points at operand i's
// first element, `result` at the result's. `result` may be one of the operands
// if the element widths are equal.
using ElementwiseFn = void (*)(const void* const* operands, void* result,
                               int64_t n);

// The function of an opcode over operands of compute type `type` (see
// ComputeType); null where the opcode has no meaning for the type.
ElementwiseFn UnaryFn(Opcode opcode, ElementType type);
ElementwiseFn BinaryFn(Opcode opcode, ElementType type);
ElementwiseFn CompareFn(ComparisonDirection direction, bool total_order,
                        ElementType type);
// The total order of a float format of 8 bits; reads elements as stored, since
// the compute type does not tell all NaNs apart.
ElementwiseFn CompareMiniFloatsFn(ComparisonDirection direction,
                                  ElementType type);
// The function of an opcode for which 8 bits do not give the same low bits as
// the sub-byte integers of `type`; null for other opcodes and types. Elements
// are in the compute type.
ElementwiseFn SubByteFn(Opcode opcode, ElementType type);
ElementwiseFn ClampFn(ElementType type);
// select(pred, a, b) over elements of `width` bytes.
ElementwiseFn SelectFn(int64_t width);
// Conversion with XLA's rules: floats to integers truncate and saturate, NaN
// becomes 0. Both are compute types, or one step of a ConversionPath.
ElementwiseFn ConvertFn(ElementType from, ElementType to);
// The types that a conversion takes its values through, in order, the last of
// them `to`; each step rounds or saturates at most as the whole does.
using TypePath = absl::InlinedVector<ElementType, 3>;
TypePath ConversionPath(ElementType from, ElementType to);
// Copies elements of `width` bytes.
ElementwiseFn CopyFn(int64_t width);

// The kernel of an elementwise opcode.
struct ElementwiseKernel {
  // Null where the opcode has no meaning for the types.
  ElementwiseFn fn = nullptr;
  // True if `fn` reads and writes elements as they are stored; otherwise it
  // takes operands in their compute types and returns the result's.
  bool moves_data = false;
};

// The kernel of any elementwise opcode but convert, which may take several
// steps. `operand` is the last operand's type; direction and total order are
// compare's.
ElementwiseKernel KernelOf(Opcode opcode, ComparisonDirection direction,
                           bool total_order, ElementType operand,
                           ElementType result);

}  // namespace hone::hlo::evaluator

#endif  // HONE_HLO_EVALUATOR_ELEMENTWISE_ELEMENTWISE_H_
