#include <algorithm>

#include "graphs/max_load.h"
#include "graphs/placements.h"

namespace hone::graphs {

std::optional<Placement> PlaceOnOneDevice(const DeviceGraph& graph) {
  std::optional<Placement> best;
  double best_load = 0;
  for (const int32_t device : {0, graph.limits().accelerators}) {
    if (device >= graph.device_count()) continue;
    Placement placement(graph.size(), device);
    if (!CheckAssignment(graph, placement, Contiguity::kPipeline).ok()) {
      continue;
    }
    const double load = ComputeLoads(graph, placement)->max_load;
    if (!best || load < best_load) {
      best = std::move(placement);
      best_load = load;
    }
  }
  return best;
}

}  // namespace hone::graphs
