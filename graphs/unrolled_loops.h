#ifndef HONE_GRAPHS_UNROLLED_LOOPS_H_
#define HONE_GRAPHS_UNROLLED_LOOPS_H_

#include <cstdint>

#include "absl/status/statusor.h"

#include "hlo/ir/module.h"

namespace hone::graphs {

// Returns `module`, in which WithTripCounts (trip_counts.h) has stated the trip
// counts of loops, with the loops of its entry computation unrolled, for import
// as a graph (hlo_import.h). Names of instructions may repeat, which the
// verifier refuses; but for that it is a module that computes the same.
//
// A `while` of known trip count n becomes n copies of the instructions of its
// body; loops in the body are unrolled, too. The parameter of the body stands
// for the initial value in iteration 0 and for the result of the previous
// iteration in the others, element by element. Users of the loop read the
// result of the last iteration. The condition is left out, as nothing depends
// on it. A copy is named after its instruction and the iterations of the loops
// around it, the outermost first: "dot.3.0" is dot.3 of iteration 0, and may be
// the name of another instruction, too. Metadata and called computations stay.
// Constants are copied once. A control dependence of a loop becomes one of each
// copy that does work; if none does, what waits for the loop waits for what the
// loop waits for.
//
// These stay as they are: loops of unknown trip count, loops in which others
// are nested to 64 levels, and what calls, fusions and conditionals call.
//
// Errors: InvalidArgument, with the name of the largest loop and its number of
// nodes, if the graph would be larger than `max_nodes`, or if the copies would
// take more than about a gigabyte.
absl::StatusOr<hlo::Module> UnrollLoops(const hlo::Module& module,
                                        int64_t max_nodes);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_UNROLLED_LOOPS_H_
