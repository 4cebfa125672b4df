#include "graphs/metis_partition.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <mutex>
#include <numeric>
#include <utility>

#include "metis.h"

namespace hone::graphs {
namespace {

// Returns integers up to `most` in proportion to `values`: METIS counts in
// integers.
std::vector<idx_t> Scaled(absl::Span<const double> values, double most) {
  const double largest =
      values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  std::vector<idx_t> scaled;
  scaled.reserve(values.size());
  for (const double value : values) {
    const double share = largest > 0 ? value / largest : 0;
    scaled.push_back(
        std::max(idx_t{1}, static_cast<idx_t>(std::lround(share * most))));
  }
  return scaled;
}

// Returns `work` without what vertices have beyond the share of a part: they
// fill one alone. METIS gives such a vertex the side of a bisection that is for
// several parts, finds no vertices for the others and says so on stdout.
std::vector<double> WithinShares(absl::Span<const double> work, int32_t parts) {
  std::vector<double> heaviest(work.begin(), work.end());
  const auto most = std::min(heaviest.size(), static_cast<size_t>(parts));
  std::partial_sort(heaviest.begin(),
                    heaviest.begin() + static_cast<int64_t>(most),
                    heaviest.end(), std::greater<>());
  // The share of the others, when each heavier vertex has a part.
  double rest = std::accumulate(work.begin(), work.end(), 0.0);
  double share = rest / parts;
  for (size_t i = 0; i + 1 < most && heaviest[i] > share; ++i) {
    rest -= heaviest[i];
    share = std::max(rest, 0.0) / static_cast<double>(most - i - 1);
  }
  std::vector<double> within(work.begin(), work.end());
  for (double& value : within) value = std::min(value, share);
  return within;
}

}  // namespace

std::vector<int32_t> PartitionByMetis(absl::Span<const double> work,
                                      absl::Span<const WeightedPair> pairs,
                                      int32_t parts) {
  // METIS prints complaints to stdout about graphs of few nodes.
  if (work.size() < 4 * static_cast<size_t>(parts)) return {};
  std::vector<std::vector<std::pair<idx_t, double>>> neighbors(work.size());
  for (const WeightedPair& pair : pairs) {
    neighbors[pair.a].emplace_back(pair.b, pair.cost);
    neighbors[pair.b].emplace_back(pair.a, pair.cost);
  }
  std::vector<idx_t> begin = {0};
  std::vector<idx_t> ends;
  std::vector<double> costs;
  for (std::vector<std::pair<idx_t, double>>& of : neighbors) {
    std::sort(of.begin(), of.end());
    for (const auto& [end, cost] : of) {
      if (static_cast<idx_t>(ends.size()) > begin.back() &&
          ends.back() == end) {
        costs.back() += cost;
        continue;
      }
      ends.push_back(end);
      costs.push_back(cost);
    }
    begin.push_back(static_cast<idx_t>(ends.size()));
  }
  // So that sums over all vertices fit.
  const double most =
      std::min(10'000.0, 1e9 / static_cast<double>(work.size()));
  std::vector<idx_t> weights = Scaled(WithinShares(work, parts), most);
  std::vector<idx_t> edge_weights = Scaled(costs, 1000);
  auto count = static_cast<idx_t>(work.size());
  auto part_count = static_cast<idx_t>(parts);
  idx_t constraints = 1;
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_NUMBERING] = 0;
  idx_t cut = 0;
  std::vector<idx_t> part(work.size());
  // METIS draws from the C library's generator, which threads share.
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  const int result = METIS_PartGraphKway(
      &count, &constraints, begin.data(), ends.data(), weights.data(), nullptr,
      edge_weights.data(), &part_count, nullptr, nullptr, options, &cut,
      part.data());
  if (result != METIS_OK) part.clear();
  return {part.begin(), part.end()};
}

}  // namespace hone::graphs
