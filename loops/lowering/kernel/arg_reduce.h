#ifndef HONE_LOOPS_LOWERING_KERNEL_ARG_REDUCE_H_
#define HONE_LOOPS_LOWERING_KERNEL_ARG_REDUCE_H_

#include <cstddef>
#include <optional>

#include "absl/status/status.h"

#include "loops/lowering/kernel/kernel_writer.h"
#include "loops/lowering/kernel/nest.h"

namespace hone::loops {

// A reduction along one dimension to an extremum and its index: the first of
// equal elements, and the first NaN if there is one.
struct ArgReduce {
  size_t dimension = 0;
  bool is_max = true;
};

// Matches a reduction of two operands, the second of which numbers the elements
// along the reduced dimension. The region may only compare and select, so that
// finitely many cases show what it does.
std::optional<ArgReduce> AsArgReduce(const ValueGraph& graph,
                                     hlo::InstructionId id);

// Writes the loops of such a reduction. Along contiguous lines, finds the
// extremum first and then where it is, in a block that has it: vectors do both.
// Errors: Unimplemented.
absl::Status WriteArgReduce(KernelWriter& writer, Nest& nest,
                            hlo::InstructionId id, const ArgReduce& reduce);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_KERNEL_ARG_REDUCE_H_
