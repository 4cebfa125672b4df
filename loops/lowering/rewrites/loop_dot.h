#ifndef HONE_LOOPS_LOWERING_REWRITES_LOOP_DOT_H_
#define HONE_LOOPS_LOWERING_REWRITES_LOOP_DOT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hlo/rewrite/rewriter.h"

namespace hone::loops {

// Parts of dots, for rewrites that move them out of loops.

// Returns true if a product of so few rows with a matrix that has so many rows,
// along which it sums, is bound by reading the matrix: reading and writing the
// result and the rows takes less.
constexpr bool AreFewRows(int64_t rows, int64_t sums) {
  return rows <= 64 && 2 * rows <= sums;
}

// The dots of a computation, operands before users, but those of empty arrays.
std::vector<hlo::InstructionId> DotsIn(const hlo::Rewriter& r);

bool HasBatch(const hlo::Instruction& dot);

// The dimensions of operand `side` that a dot contracts.
const hlo::DimensionVector& Contracting(const hlo::Instruction& dot,
                                        size_t side);

// The number of products that make an element of `dot`.
int64_t SumsOf(const hlo::Rewriter& r, hlo::InstructionId dot);

// Returns true if sums of this type may be computed in another order: not if
// each of them is rounded to 16 bits.
bool MayReassociate(const hlo::Shape& shape);

// A dot with the type and the precision of `prototype`, an instruction of any
// computation.
hlo::InstructionId AddDotLike(hlo::Rewriter& r,
                              const hlo::Instruction& prototype,
                              hlo::InstructionId lhs, hlo::InstructionId rhs,
                              hlo::DotDimensions dimensions);

// Elements from `start` to `limit` along dimension `d` of `operand`.
hlo::InstructionId SliceAlong(hlo::Rewriter& r, hlo::InstructionId operand,
                              int64_t d, int64_t start, int64_t limit);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_REWRITES_LOOP_DOT_H_
