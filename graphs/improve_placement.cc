#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/rng.h"
#include "graphs/max_load.h"
#include "graphs/placement_moves.h"
#include "graphs/placement_state.h"
#include "graphs/placements.h"

namespace hone::graphs {
namespace {

constexpr int64_t kTries = 60'000;
constexpr size_t kHistory = 1000;
constexpr int64_t kStopInterval = 1024;

}  // namespace

// Late acceptance hill climbing: a change is made if it is better than the
// assignment so many tries ago, so that no scale of temperatures is needed.
// Source: Burke and Bykov, "The late acceptance hill-climbing heuristic", 2017.
Placement ImprovePlacement(const DeviceGraph& graph, Contiguity contiguity,
                           Placement placement, const StopCondition& stop) {
  if (graph.device_count() > 64) return placement;
  const PlacementMoves moves(graph, contiguity);
  PlacementState state(graph, contiguity, placement);
  if (state.violation() > 0) return placement;
  double best_load = state.max_load();
  Placement best = placement;
  Rng rng(1);
  double energy = PlacementEnergy(state.loads());
  std::vector<double> history(kHistory, energy);
  std::vector<PlacementMoves::NodeMove> change;
  std::vector<PlacementMoves::NodeMove> inverse;
  for (int64_t i = 0; i < kTries; ++i) {
    if (i % kStopInterval == 0 && stop && stop()) break;
    moves.Propose(state, rng, change);
    if (change.empty()) continue;
    const PlacementState::Sums before = state.sums();
    inverse.clear();
    for (const auto& [node, device] : change) {
      inverse.emplace_back(node, state.assignment()[node]);
      state.Move(node, device);
    }
    double& late = history[static_cast<size_t>(i) % kHistory];
    const double after = PlacementEnergy(state.loads());
    if ((after <= energy || after <= late) && state.violation() == 0) {
      energy = after;
      if (state.max_load() < best_load) {
        best_load = state.max_load();
        best.assign(state.assignment().begin(), state.assignment().end());
      }
    } else {
      for (const auto& [node, device] : inverse) state.Move(node, device);
      state.set_sums(before);
    }
    late = std::min(late, energy);
  }
  // Judged anew: rounding may have told otherwise.
  if (!CheckAssignment(graph, best, contiguity).ok() ||
      ComputeLoads(graph, best)->max_load >
          ComputeLoads(graph, placement)->max_load) {
    return placement;
  }
  return best;
}

}  // namespace hone::graphs
