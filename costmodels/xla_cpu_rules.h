#ifndef HONE_COSTMODELS_XLA_CPU_RULES_H_
#define HONE_COSTMODELS_XLA_CPU_RULES_H_

#include <cstddef>
#include <cstdint>

#include "hlo/ir/module.h"

// The conditions of XLA:CPU's fusion on one instruction, or on a producer and a
// consumer of its value. Source: see xla_cpu_kernels.h.
namespace hone::costmodels {

// Returns true if no code runs for it. Reshapes count, as they are bitcasts of
// row-major arrays.
bool DoesNothing(hlo::Opcode opcode);

// The shape of operand `i`.
const hlo::Shape& OperandShape(const hlo::Computation& computation,
                               const hlo::Instruction& instruction, size_t i);

// Elements of an array, or of all arrays in a tuple.
int64_t LeafElements(const hlo::Shape& shape);
// The same as a double; 0 for a tuple.
double Elements(const hlo::Shape& shape);
// Bytes of an array, or of all arrays in a tuple.
double Bytes(const hlo::Shape& shape);

// Arrays above this do not stay in a core's cache.
inline constexpr double kNearBytes = 512 * 1024;
// Arrays above this do not stay in the cache that cores share.
inline constexpr double kSharedBytes = 4 * 1024 * 1024;

// The cost class of an elementwise operation.
enum class OpClass {
  kFlop,
  kDivision,
  kFunction,      // code that vectorizes
  kSlowFunction,  // calls of the C library, element by element
};
OpClass ClassOf(hlo::Opcode opcode);

// Returns true for reduce and reduce-window.
bool IsReduction(hlo::Opcode opcode);

// Sizes of a dot as a batch of products of m x k and k x n matrices.
struct DotSizes {
  double batch = 1;
  double m = 1;
  double n = 1;
  double k = 1;
};
DotSizes SizesOf(const hlo::Computation& computation,
                 const hlo::Instruction& dot);

// Loop fusion.

// Returns true for what generated loops can compute element by element.
bool IsLoopFusible(const hlo::Computation& computation,
                   const hlo::Instruction& instruction);
// Returns true for a dot whose contracted dimensions have one element: XLA
// multiplies broadcasts instead.
bool IsOuterProduct(const hlo::Computation& computation,
                    const hlo::Instruction& dot);
// Returns true unless effects or called computations forbid fusion.
bool IsFusible(const hlo::Instruction& instruction);
// Returns true if it is too expensive to be computed twice.
bool IsExpensive(const hlo::Computation& computation,
                 const hlo::Instruction& instruction);
// Returns true if it reads elements of that operand more than once.
bool ReusesOperand(const hlo::Computation& computation,
                   const hlo::Instruction& instruction, size_t operand);
// Returns true if at most one operand has the rank of the result.
bool EffectivelyUnary(const hlo::Computation& computation,
                      const hlo::Instruction& instruction);
// Elements of all operands, each operand once.
int64_t UniqueOperandElements(const hlo::Computation& computation,
                              const hlo::Instruction& instruction);
// Returns true for a concatenation that is better done on its own.
bool IsWideConcatenate(const hlo::Instruction& instruction);
// Returns true if the producer reads the array that the consumer overwrites.
bool BreaksInPlaceUpdate(const hlo::Computation& computation,
                         const hlo::Instruction& producer,
                         const hlo::Instruction& consumer);
// Returns true if the code of an element has branches or loops.
bool HasControlFlow(hlo::Opcode opcode);

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_XLA_CPU_RULES_H_
