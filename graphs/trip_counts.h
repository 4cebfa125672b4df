#ifndef HONE_GRAPHS_TRIP_COUNTS_H_
#define HONE_GRAPHS_TRIP_COUNTS_H_

#include "hlo/ir/module.h"

namespace hone::graphs {

// Returns true if a `while` states its trip count (hlo::StatedTripCount).
bool StatesTripCount(const hlo::Instruction& loop);

// Returns `module`, which verifies, with the trip counts of its loops stated
// (hlo::StatedTripCount) where they were not and can be found
// (hlo::FindCountedLoop). What else backend_config says stays, unless it is no
// JSON object. Ids stay.
hlo::Module WithTripCounts(const hlo::Module& module);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_TRIP_COUNTS_H_
