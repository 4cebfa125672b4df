#include "graphs/ideals.h"

#include <cstddef>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "graphs/block_graph.h"
#include "graphs/ideal_lattice.h"
#include "graphs/max_load.h"
#include "graphs/stage_search.h"

namespace hone::graphs {
namespace {

bool HasBackwardEdge(const DeviceGraph& graph) {
  for (size_t i = 0; i < graph.size(); ++i) {
    const auto source = static_cast<NodeIndex>(i);
    if (!graph.node(source).is_backward) continue;
    for (const NodeIndex target : graph.adjacency().successors(source)) {
      if (graph.node(target).is_backward) return true;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<Pipeline> FindBestPipeline(const DeviceGraph& graph,
                                          const PipelineOptions& options) {
  std::vector<BackwardDirection> directions = {BackwardDirection::kReverse};
  if (HasBackwardEdge(graph)) directions.push_back(BackwardDirection::kSame);

  Pipeline result;
  double bound = std::numeric_limits<double>::infinity();
  for (const BackwardDirection direction : directions) {
    const BlockGraph blocks = GatherBlocks(graph, direction);
    // First, since it is what fails for graphs that are too large.
    HONE_ASSIGN_OR_RETURN(
        const IdealLattice lattice,
        IdealLattice::Create(blocks.order, options.max_ideals, options.stop));
    BestStages best;
    best.max_load = bound;
    const IdealLattice chain =
        IdealLattice::Chain(TopologicalOrder(blocks.order));
    HONE_RETURN_IF_ERROR(
        ImproveStages(blocks, graph.limits(), chain, options.stop, best));
    HONE_RETURN_IF_ERROR(
        ImproveStages(blocks, graph.limits(), lattice, options.stop, best));
    result.ideals += static_cast<int64_t>(lattice.size());
    result.ideal_pairs += best.ideal_pairs;
    if (best.device_of.empty()) continue;
    bound = best.max_load;
    result.assignment.clear();
    for (const uint32_t block : blocks.block_of) {
      result.assignment.push_back(best.device_of[block]);
    }
  }
  if (result.assignment.empty()) {
    return absl::FailedPreconditionError(
        "no pipeline fits the devices: memory, color classes or nodes that "
        "accelerators do not support are in the way");
  }
  if (const absl::Status valid =
          CheckAssignment(graph, result.assignment, Contiguity::kPipeline);
      !valid.ok()) {
    return absl::InternalError(
        absl::StrCat("the best pipeline is not valid: ", valid.message()));
  }
  HONE_ASSIGN_OR_RETURN(const DeviceLoads loads,
                        ComputeLoads(graph, result.assignment));
  result.max_load = loads.max_load;
  return result;
}

}  // namespace hone::graphs
