#ifndef HONE_LOOPS_LOWERING_OPCODE_TRAITS_H_
#define HONE_LOOPS_LOWERING_OPCODE_TRAITS_H_

#include <cstdint>

#include "hlo/ir/computation.h"

namespace hone::loops {

// How an instruction's elements come about.
enum class Form : uint8_t {
  // Each by an expression of elements of the operands.
  kExpression,
  // By loops that write it, which may be more than one element at a time.
  kLoops,
  // It is there already: parameters and constants.
  kGiven,
  // By other computations: while, conditional.
  kControlFlow,
  kUnsupported,
};
Form FormOf(const hlo::Instruction& instruction);

// Whether the instruction's elements are elements of its only operand, found at
// places that depend on nothing but the index.
bool IsReindexing(hlo::Opcode opcode);

// About how many additions one element of an expression instruction is worth,
// operands left out.
int64_t WorkOf(const hlo::Instruction& instruction);

// Whether it reads elements of its operand `i` more than once. Dots and
// convolutions are not asked.
bool ReadsRepeatedly(const hlo::Computation& computation,
                     const hlo::Instruction& instruction, size_t i);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_OPCODE_TRAITS_H_
