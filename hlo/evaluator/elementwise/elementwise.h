#ifndef HONE_HLO_EVALUATOR_ELEMENTWISE_ELEMENTWISE_H_
#define HONE_HLO_EVALUATOR_ELEMENTWISE_ELEMENTWISE_H_

#include <cstdint>

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
ElementwiseFn ClampFn(ElementType type);
// select(pred, a, b) over elements of `width` bytes.
ElementwiseFn SelectFn(int64_t width);
// Conversion with XLA's rules: floats to integers truncate and saturate, NaN
// becomes 0. Either type may also be a narrow one if the other is its compute
// type.
ElementwiseFn ConvertFn(ElementType from, ElementType to);
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
