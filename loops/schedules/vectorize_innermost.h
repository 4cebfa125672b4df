#ifndef HONE_LOOPS_SCHEDULES_VECTORIZE_INNERMOST_H_
#define HONE_LOOPS_SCHEDULES_VECTORIZE_INNERMOST_H_

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Vectorizes the innermost loops at or below `path`, which has no contraction:
// - moves the loop along which stores (and the loads of reductions) are
//   contiguous innermost, and separates the initialization of sums over rows;
// - collapses short loops with the loops around them;
// - gives sums along the vector several independent partial sums;
// - peels the remainder that does not fill a vector.
// `path` names the same nest afterwards; parts that are split off follow it.
void VectorizeInnermost(Scheduler& scheduler, const Path& path);

// Parallelizes the nest at `path` if there are several threads and enough work.
void ParallelizeNest(Scheduler& scheduler, const Path& path);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_VECTORIZE_INNERMOST_H_
