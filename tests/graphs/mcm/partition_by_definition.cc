#include "tests/graphs/mcm/partition_by_definition.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace hone::testing {

using graphs::NodeIndex;
using graphs::PartitionGraph;

namespace {

std::set<std::pair<int32_t, int32_t>> ChipArcs(
    const PartitionGraph& graph, absl::Span<const int32_t> chips) {
  std::set<std::pair<int32_t, int32_t>> arcs;
  for (NodeIndex v = 0; v < graph.size(); ++v) {
    for (const NodeIndex u : graph.adjacency().predecessors(v)) {
      if (chips[u] != chips[v]) arcs.insert({chips[u], chips[v]});
    }
  }
  return arcs;
}

bool Fits(const PartitionGraph& graph, absl::Span<const int32_t> chips) {
  for (int32_t c = 0; c < graph.chips(); ++c) {
    double bytes = 0;
    for (NodeIndex v = 0; v < graph.size(); ++v) {
      if (chips[v] == c) bytes += graph.node(v).resident_bytes;
    }
    for (const graphs::PartitionSource& source : graph.sources()) {
      const bool has_copy =
          std::any_of(source.readers.begin(), source.readers.end(),
                      [&](NodeIndex reader) { return chips[reader] == c; });
      if (has_copy) bytes += source.resident_bytes;
    }
    if (bytes > graph.memory_bytes()) return false;
  }
  return true;
}

}  // namespace

bool IsStaticallyValidByDefinition(const PartitionGraph& graph,
                                   absl::Span<const int32_t> chips) {
  const auto arcs = ChipArcs(graph, chips);
  const std::set<int32_t> used(chips.begin(), chips.end());
  if (*used.rbegin() != static_cast<int32_t>(used.size()) - 1) return false;
  for (const auto& [a, b] : arcs) {
    if (a > b) return false;
  }
  // ways[a][b]: the most arcs of a way from a to b, by Bellman's recursion.
  const auto k = static_cast<size_t>(graph.chips());
  std::vector<std::vector<int>> longest(k, std::vector<int>(k, 0));
  for (size_t round = 0; round < k; ++round) {
    for (const auto& [a, b] : arcs) {
      const auto from = static_cast<size_t>(a);
      const auto to = static_cast<size_t>(b);
      longest[from][to] = std::max(longest[from][to], 1);
      for (size_t c = 0; c < k; ++c) {
        if (longest[to][c] > 0) {
          longest[from][c] = std::max(longest[from][c], 1 + longest[to][c]);
        }
      }
    }
  }
  return std::all_of(arcs.begin(), arcs.end(), [&](const auto& arc) {
    return longest[static_cast<size_t>(arc.first)]
                  [static_cast<size_t>(arc.second)] == 1;
  });
}

bool IsValidByDefinition(const PartitionGraph& graph,
                         absl::Span<const int32_t> chips) {
  return IsStaticallyValidByDefinition(graph, chips) && Fits(graph, chips);
}

bool IsChain(const PartitionGraph& graph, absl::Span<const int32_t> chips) {
  const auto arcs = ChipArcs(graph, chips);
  return std::all_of(arcs.begin(), arcs.end(), [](const auto& arc) {
    return arc.second == arc.first + 1;
  });
}

double MaxLoadByDefinition(const PartitionGraph& graph,
                           absl::Span<const int32_t> chips) {
  double most = 0;
  for (int32_t c = 0; c < graph.chips(); ++c) {
    double load = 0;
    for (NodeIndex u = 0; u < graph.size(); ++u) {
      if (chips[u] == c) load += graph.node(u).time;
      bool is_read_here = false;
      bool is_read_elsewhere = false;
      for (const NodeIndex v : graph.adjacency().successors(u)) {
        (chips[v] == c ? is_read_here : is_read_elsewhere) = true;
      }
      if (chips[u] == c ? is_read_elsewhere : is_read_here) {
        load += graph.node(u).transfer_time;
      }
    }
    for (const graphs::PartitionSource& source : graph.sources()) {
      const bool has_copy =
          std::any_of(source.readers.begin(), source.readers.end(),
                      [&](NodeIndex reader) { return chips[reader] == c; });
      if (has_copy) load += source.time;
    }
    most = std::max(most, load);
  }
  return most;
}

void ForEachPartition(
    const PartitionGraph& graph,
    const std::function<void(const std::vector<int32_t>&)>& use) {
  std::vector<int32_t> chips(graph.size());
  for (;;) {
    use(chips);
    size_t i = 0;
    while (i < chips.size() && ++chips[i] == graph.chips()) chips[i++] = 0;
    if (i == chips.size()) return;
  }
}

}  // namespace hone::testing
