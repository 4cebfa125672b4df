#ifndef HONE_LOOPS_IR_TRANSPOSED_BLOCKS_H_
#define HONE_LOOPS_IR_TRANSPOSED_BLOCKS_H_

#include "absl/functional/function_ref.h"

#include "loops/ir/program.h"

namespace hone::loops {

// Blocks that are contiguous along an unrolled loop and strided along the
// vector loop in it, as x is in
//
//   for i 16 unrolled
//   | for j 16 vector
//   | | y[i,j] = x[j,i]
//
// Code generators load or store each lane's elements as one vector, and
// transpose the block in registers. Both loops must be full: that is for the
// caller to know.

// Returns true if blocks of these sides can be transposed.
bool CanTranspose(const Loop& unrolled, const Loop& vector);

// Calls `visit` with the loads of such blocks. `vector` is the only child of
// `unrolled`.
void VisitTransposedLoads(const Program& program, const Loop& unrolled,
                          const Loop& vector,
                          absl::FunctionRef<void(const Expression&)> visit);

// Returns the last statement of `vector` if it stores such a block; null
// otherwise. There may be further unrolled loops between the two loops, but
// then no other statements.
const Statement* TransposedStore(const Program& program, const Loop& unrolled,
                                 const Loop& vector);

}  // namespace hone::loops

#endif  // HONE_LOOPS_IR_TRANSPOSED_BLOCKS_H_
