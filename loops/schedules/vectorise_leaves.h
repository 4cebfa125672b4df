#ifndef HONE_LOOPS_SCHEDULES_VECTORISE_LEAVES_H_
#define HONE_LOOPS_SCHEDULES_VECTORISE_LEAVES_H_

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Makes vectors of the innermost scopes at or below `path`, which has no
// contraction:
// - the scope along which stores (and the loads of reductions) are contiguous
//   comes innermost, the initialisation of a sum over rows apart;
// - short scopes are merged with those around them;
// - sums along the vector get several independent partial ones;
// - what no vector divides is a loop of its own behind.
// `path` names the same nest afterwards; parts that came off it follow it.
void VectoriseLeaves(Scheduler& scheduler, const Path& path);

// Shares the iterations of the nest at `path` out between threads, if there are
// several and there is enough to do.
void ShareOut(Scheduler& scheduler, const Path& path);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_VECTORISE_LEAVES_H_
