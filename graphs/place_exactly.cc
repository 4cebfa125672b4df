#include <cstdint>

#include "graphs/ideals.h"
#include "graphs/placements.h"

namespace hone::graphs {

std::optional<Placement> PlaceExactly(const DeviceGraph& graph,
                                      const StopCondition& stop) {
  // The search asks whether to stop after fixed numbers of ideals and pairs, so
  // that counting the questions limits its work.
  constexpr int64_t kMaxChecks = 20'000;
  constexpr int64_t kMaxIdeals = 60'000;
  int64_t checks = 0;
  const absl::StatusOr<Pipeline> pipeline = FindBestPipeline(
      graph, {.max_ideals = kMaxIdeals, .stop = [&] {
                return ++checks > kMaxChecks || (stop && stop());
              }});
  if (!pipeline.ok()) return std::nullopt;
  return pipeline->assignment;
}

}  // namespace hone::graphs
