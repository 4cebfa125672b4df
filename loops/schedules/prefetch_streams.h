#ifndef HONE_LOOPS_SCHEDULES_PREFETCH_STREAMS_H_
#define HONE_LOOPS_SCHEDULES_PREFETCH_STREAMS_H_

#include "loops/schedules/scheduler.h"

namespace hone::loops {

// Lets innermost loops over arguments that do not fit in L2 prefetch what they
// read, as far ahead as a search chooses; by the rule not at all. Processors
// predict such streams, but not across pages, and not far enough for several
// rows at once.
void PrefetchStreams(Scheduler& s);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_PREFETCH_STREAMS_H_
