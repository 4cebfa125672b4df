#ifndef HONE_GRAPHS_STAGE_SEARCH_H_
#define HONE_GRAPHS_STAGE_SEARCH_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "absl/status/status.h"

#include "graphs/block_graph.h"
#include "graphs/device_graph.h"
#include "graphs/ideal_lattice.h"

namespace hone::graphs {

// The best pipeline that a search has found so far.
struct BestStages {
  double max_load = std::numeric_limits<double>::infinity();
  std::vector<int32_t> device_of;  // [blocks], empty if there is none
  int64_t ideal_pairs = 0;         // compared so far
};

// Replaces `best` if `lattice` has a chain of ideals from the empty to the full
// one whose differences, as the stages of a pipeline, have a lower max load
// than best.max_load; then `best` gets the best such.
// Errors: ResourceExhausted if the table needs more than 1 GiB; Cancelled if
// `stop` returns true.
absl::Status ImproveStages(const BlockGraph& blocks, const DeviceLimits& limits,
                           const IdealLattice& lattice,
                           const std::function<bool()>& stop, BestStages& best);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_STAGE_SEARCH_H_
