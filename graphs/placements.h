#ifndef HONE_GRAPHS_PLACEMENTS_H_
#define HONE_GRAPHS_PLACEMENTS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "graphs/contiguity.h"
#include "graphs/device_graph.h"

namespace hone::graphs {

// Methods that construct an assignment: one device for each node, in the order
// of the nodes. Each returns an assignment that CheckAssignment accepts for the
// contiguity asked for (pipelines, where none is asked for), or nothing. Effort
// is limited by counts: results do not depend on time unless a stop condition
// ends them.
using Placement = std::vector<int32_t>;

// Returns true when the caller wants no result any more; may be empty.
using StopCondition = std::function<bool()>;

// Puts all nodes on one device: the kind with the lower load where both can
// hold them.
std::optional<Placement> PlaceOnOneDevice(const DeviceGraph& graph);

// Fills one device after the other along one topological order, each up to an
// equal share of the work, as a compiler without a search does. Opens a CPU
// core only for what no accelerator can take. Linear time.
std::optional<Placement> PlaceGreedily(const DeviceGraph& graph);

// The best of the pipelines whose stages are intervals of one of three
// topological orders (depth first, depth first from the ends, breadth first),
// by dynamic programming. With more than 2,000 blocks, those that follow each
// other are first gathered in as many chunks.
std::optional<Placement> PlaceSegments(const DeviceGraph& graph,
                                       const StopCondition& stop);

// Parts of about equal time with few transfers between them, as METIS finds
// them, made a pipeline: blocks are put in a topological order that follows the
// parts as far as it can, and the order is cut anew. Nothing for fewer than two
// accelerators, or fewer than four blocks for each.
// Source: Karypis and Kumar, "A fast and high quality multilevel scheme for
// partitioning irregular graphs", 1998; the repair is ours.
std::optional<Placement> PlaceByMetis(const DeviceGraph& graph,
                                      const StopCondition& stop);

// FindBestPipeline with a limit of its work, in ideals and pairs of them.
std::optional<Placement> PlaceExactly(const DeviceGraph& graph,
                                      const StopCondition& stop);

// Returns the best assignment of a local search from `placement`, of a fixed
// number of tries and a fixed seed; `placement` itself if there is none better.
Placement ImprovePlacement(const DeviceGraph& graph, Contiguity contiguity,
                           Placement placement, const StopCondition& stop);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_PLACEMENTS_H_
