#include "learning/networks/minibatch.h"

#include <algorithm>
#include <numeric>

#include "absl/container/flat_hash_map.h"

namespace hone::learning {

std::vector<std::vector<size_t>> MemoryParts(
    absl::Span<const View* const> views) {
  absl::flat_hash_map<const space::Observation*, size_t> first_seen;
  std::vector<size_t> rank(views.size());
  for (size_t i = 0; i < views.size(); ++i) {
    rank[i] = first_seen.try_emplace(views[i]->graph.get(), i).first->second;
  }
  std::vector<size_t> indices(views.size());
  std::iota(indices.begin(), indices.end(), size_t{0});
  std::stable_sort(indices.begin(), indices.end(),
                   [&](size_t a, size_t b) { return rank[a] < rank[b]; });
  std::vector<std::vector<size_t>> parts;
  size_t nodes = 0;
  const space::Observation* last = nullptr;
  for (const size_t index : indices) {
    const space::Observation* graph = views[index]->graph.get();
    const size_t added = graph == last ? 0 : graph->node_kinds.size();
    if (parts.empty() || nodes + added > kNodesPerPart ||
        parts.back().size() >= kViewsPerPart) {
      parts.emplace_back();
      nodes = graph->node_kinds.size();
    } else {
      nodes += added;
    }
    last = graph;
    parts.back().push_back(index);
  }
  return parts;
}

std::vector<std::vector<size_t>> Minibatches(size_t count, size_t size,
                                             Rng& rng) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), rng);
  std::vector<std::vector<size_t>> batches;
  for (size_t begin = 0; begin < count; begin += size) {
    const size_t end = std::min(begin + size, count);
    batches.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(begin),
                         order.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return batches;
}

}  // namespace hone::learning
