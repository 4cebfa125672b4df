#ifndef HONE_GRAPHS_CUT_ORDER_H_
#define HONE_GRAPHS_CUT_ORDER_H_

#include <optional>
#include <vector>

#include "graphs/block_graph.h"
#include "graphs/device_graph.h"
#include "graphs/placements.h"

namespace hone::graphs {

// Replaces `best` by the best pipeline of which every stage is an interval of
// `order`, a topological order of the blocks, if its max load is below
// `best_load`, which becomes its. With more than 2,000 blocks, those that
// follow each other are first gathered in as many chunks.
void CutOrder(const DeviceGraph& graph, const BlockGraph& blocks,
              const std::vector<NodeIndex>& order, const StopCondition& stop,
              double& best_load, std::optional<Placement>& best);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_CUT_ORDER_H_
