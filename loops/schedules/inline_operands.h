#ifndef HONE_LOOPS_SCHEDULES_INLINE_OPERANDS_H_
#define HONE_LOOPS_SCHEDULES_INLINE_OPERANDS_H_

#include "absl/types/span.h"

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Returns true if a nest computes the local `buffer` in front of all that reads
// it, at little cost and from arrays that are contiguous where it is.
bool IsComputedInOrder(const Program& program, BufferId buffer);

// Operands of matrix products and convolutions that nests in front of them
// compute element by element, into locals, at little cost. These functions
// compute those among `operands` elsewhere, each element once as before. A nest
// that is left without statements is removed, so that those after it move up.

// Computes one in the statement of the product, in the nest at `path`, if that
// reads each element once: a matrix that is multiplied by a vector.
void InlineOperandsReadOnce(Scheduler& scheduler, const Path& path,
                            absl::Span<const BufferId> operands);

// Computes operands where they are copied to panels or with a margin, if
// nothing else reads them.
void InlineIntoCopies(Scheduler& scheduler,
                      absl::Span<const BufferId> operands);

// Computes operands that L2 does not hold by blocks, each in front of the part
// of a scheduled nest that reads it, if that takes one iteration of its
// outermost loop.
void BlockOperands(Scheduler& scheduler, absl::Span<const BufferId> operands);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_INLINE_OPERANDS_H_
