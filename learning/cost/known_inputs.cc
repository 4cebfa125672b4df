#include "learning/cost/known_inputs.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "absl/container/flat_hash_set.h"

namespace hone::learning {
namespace {

constexpr float kMargin = 0.01F;

KnownInputs::Range Nothing(size_t columns) {
  return {std::vector<float>(columns, std::numeric_limits<float>::max()),
          std::vector<float>(columns, std::numeric_limits<float>::lowest())};
}

void Widen(absl::Span<const float> rows, KnownInputs::Range& range) {
  const size_t columns = range.least.size();
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t c = i % columns;
    range.least[c] = std::min(range.least[c], rows[i]);
    range.largest[c] = std::max(range.largest[c], rows[i]);
  }
}

bool Contains(const KnownInputs::Range& range, absl::Span<const float> rows) {
  const size_t columns = range.least.size();
  for (size_t i = 0; i < rows.size() && columns > 0; ++i) {
    const size_t c = i % columns;
    const float margin = kMargin * (range.largest[c] - range.least[c]);
    if (rows[i] < range.least[c] - margin ||
        rows[i] > range.largest[c] + margin) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool KnownInputs::KnowGraph(const space::Observation& graph) const {
  if (kinds.empty()) return true;
  for (const int32_t kind : graph.node_kinds) {
    const auto index = static_cast<size_t>(kind);
    if (index >= kinds.size() || !kinds[index]) return false;
  }
  return Contains(nodes, graph.node_features) &&
         Contains(edges, graph.edge_features) &&
         Contains(globals, graph.global_features);
}

bool KnownInputs::KnowConfig(absl::Span<const float> config) const {
  return kinds.empty() || Contains(configs, config);
}

KnownInputs KnownInputsOf(absl::Span<const CostGroup> groups,
                          const CostSpec& spec) {
  KnownInputs known = {
      .kinds = std::vector<bool>(static_cast<size_t>(spec.graph.node_kinds)),
      .nodes = Nothing(static_cast<size_t>(spec.graph.node_features)),
      .edges = Nothing(static_cast<size_t>(spec.graph.edge_features)),
      .globals = Nothing(static_cast<size_t>(spec.graph.global_features)),
      .configs = Nothing(spec.config_names.size())};
  absl::flat_hash_set<const space::Observation*> seen;
  for (const CostGroup& group : groups) {
    for (const CostSample& sample : group.samples) {
      Widen(sample.config, known.configs);
      if (!seen.insert(sample.graph.get()).second) continue;
      for (const int32_t kind : sample.graph->node_kinds) {
        known.kinds[static_cast<size_t>(kind)] = true;
      }
      Widen(sample.graph->node_features, known.nodes);
      Widen(sample.graph->edge_features, known.edges);
      Widen(sample.graph->global_features, known.globals);
    }
  }
  return known;
}

}  // namespace hone::learning
