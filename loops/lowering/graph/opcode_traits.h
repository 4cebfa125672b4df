#ifndef HONE_LOOPS_LOWERING_GRAPH_OPCODE_TRAITS_H_
#define HONE_LOOPS_LOWERING_GRAPH_OPCODE_TRAITS_H_

#include <cstdint>

#include "absl/strings/string_view.h"

#include "hlo/ir/computation.h"

namespace hone::loops {

// Custom calls to targets with this prefix are calls of library functions; only
// library_calls.h makes them.
inline constexpr absl::string_view kLibraryPrefix = "hone_";
inline constexpr absl::string_view kFftFunction = "hone_fft";
bool IsLibraryCall(const hlo::Instruction& instruction);

// The way in which the elements of an instruction are computed.
enum class Form : uint8_t {
  // Each element is an expression of elements of the operands.
  kExpression,
  // Loops write the elements, possibly several at a time.
  kLoops,
  // Parameters and constants: nothing to compute.
  kGiven,
  // Other computations are executed: while, conditional.
  kControlFlow,
  // A function of the backend's library writes the arrays (library_calls.h).
  kLibrary,
  kUnsupported,
};
Form FormOf(const hlo::Instruction& instruction);

// Returns true for forms that are a step of a plan instead of a kernel; their
// operands must be stored.
bool IsPlanStep(Form form);

// Returns true if the elements of an instruction are elements of its only
// operand at positions that depend on the index alone.
bool IsReindexing(hlo::Opcode opcode);

// The approximate cost of one element of a kExpression instruction, without its
// operands, in additions.
int64_t WorkOf(const hlo::Instruction& instruction);

// Returns true if the instruction reads elements of its operand `i` more than
// once. Not for dots and convolutions.
bool ReadsRepeatedly(const hlo::Computation& computation,
                     const hlo::Instruction& instruction, size_t i);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_GRAPH_OPCODE_TRAITS_H_
