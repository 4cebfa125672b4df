#ifndef HONE_TUNING_TASKS_PLACEMENT_LOCAL_H_
#define HONE_TUNING_TASKS_PLACEMENT_LOCAL_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/types/span.h"

#include "graphs/contiguity.h"
#include "graphs/placement_moves.h"
#include "space/local_state.h"

namespace hone::tuning {

// Returns `assignment` of `graph` for incremental evaluation, with the graph's
// moves. Counts tries in `evaluations`. `graph` outlives it.
std::unique_ptr<space::LocalState> MakePlacementLocal(
    const graphs::DeviceGraph& graph, graphs::Contiguity contiguity,
    std::shared_ptr<const graphs::PlacementMoves> moves,
    std::shared_ptr<std::atomic<int64_t>> evaluations,
    absl::Span<const int32_t> assignment);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_PLACEMENT_LOCAL_H_
