#include "graphs/step/place_kernels.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "graphs/metis_partition.h"

namespace hone::graphs {

std::vector<int32_t> PlaceOnFastest(const KernelGraph& kernels,
                                    const DeviceTimes& times) {
  int32_t best = 0;
  std::tuple<double, double> best_rank;
  for (int32_t d = 0; d < times.device_count(); ++d) {
    double seconds = 0;
    for (size_t k = 0; k < kernels.size(); ++k) {
      seconds += kernels.Seconds(static_cast<KernelIndex>(k), times.kind_of(d));
    }
    const std::tuple rank(seconds, -times.memory_bytes(d));
    if (d == 0 || rank < best_rank) {
      best = d;
      best_rank = rank;
    }
  }
  return std::vector<int32_t>(kernels.size(), best);
}

std::vector<int32_t> PlaceByCut(const KernelGraph& kernels,
                                const DeviceTimes& times) {
  if (times.device_count() < 2) return {};
  std::vector<double> work;
  std::vector<WeightedPair> pairs;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const auto kernel = static_cast<KernelIndex>(k);
    work.push_back(kernels.Seconds(kernel, 0));
    for (const KernelGraph::Use& use : kernels.uses(kernel)) {
      pairs.push_back(
          {kernel, use.kernel, times.MeanTransferSeconds(use.bytes)});
    }
  }
  return PartitionByMetis(work, pairs, times.device_count());
}

}  // namespace hone::graphs
