#ifndef HONE_TUNING_TASKS_PLACEMENT_DOMAINS_H_
#define HONE_TUNING_TASKS_PLACEMENT_DOMAINS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "graphs/block_graph.h"
#include "graphs/device_graph.h"
#include "space/domains.h"

namespace hone::tuning {

// The constraints that MakePlacementDomains propagates.
struct PlacementRules {
  // Nodes that share a device, with their order.
  graphs::BlockGraph blocks;
  // The devices in the order of the pipeline. Empty: the order of the blocks
  // does not matter.
  std::vector<int32_t> device_order;
};

// Returns the devices left to each node: blocks share one, accelerators support
// their nodes and hold them, and no block is on an earlier device than one
// before it. Without the limit of memory no choice leads to a conflict (each
// block can take the first device left to it); memory may need choices to be
// undone.
//
// The order of devices is fixed. Assignments that are pipelines in another
// order, or only in the other direction of the backward pass, are excluded:
// those that differ by names of equal devices lose nothing, others (a CPU core
// at another place between accelerators) may be better. Keeps references to
// `graph` and a share of `rules`.
std::unique_ptr<space::Domains> MakePlacementDomains(
    const graphs::DeviceGraph& graph,
    std::shared_ptr<const PlacementRules> rules);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_PLACEMENT_DOMAINS_H_
