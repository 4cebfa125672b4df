#ifndef HONE_TUNING_TASKS_PARTITION_DRAW_H_
#define HONE_TUNING_TASKS_PARTITION_DRAW_H_

#include <functional>
#include <optional>

#include "base/rng.h"
#include "graphs/mcm/partition_graph.h"
#include "graphs/mcm/partitions.h"
#include "space/domains.h"

namespace hone::tuning {

// Draws a partition through the constraint solver, whose domains are left as
// they were; nothing if a bounded number of tries fails, or once `stop`, which
// may be null, returns true.
//
// First the chips of nodes in a random order, uniform over what the constraints
// leave (SAMPLE of Xie et al., 2022, without a policy): the first nodes decided
// bound those between them, so that parts are of all sizes. In a topological
// order all chips would be used up by the first few nodes. Where memory is
// tight, or such draws fail, chips are filled one after the other in a
// topological order, each up to a random share of the work.
std::optional<graphs::Partition> DrawPartition(
    const graphs::PartitionGraph& graph, space::Domains& domains, Rng& rng,
    const std::function<bool()>& stop);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_PARTITION_DRAW_H_
