#include "learning/networks/group_rows.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

#include "learning/networks/tensors.h"
#include "space/observation.h"

namespace hone::learning {
namespace {

// Returns the rank of each node in a topological order; what lies on or behind
// a cycle comes last.
std::vector<size_t> TopologicalRanks(const space::Observation& graph) {
  const size_t nodes = graph.node_kinds.size();
  std::vector<std::vector<size_t>> users(nodes);
  std::vector<size_t> missing(nodes);
  for (size_t e = 0; e < graph.edge_sources.size(); ++e) {
    const auto target = static_cast<size_t>(graph.edge_targets[e]);
    users[static_cast<size_t>(graph.edge_sources[e])].push_back(target);
    ++missing[target];
  }
  std::vector<size_t> ready;
  for (size_t n = 0; n < nodes; ++n) {
    if (missing[n] == 0) ready.push_back(n);
  }
  std::vector<size_t> ranks(nodes, nodes);
  for (size_t i = 0; i < ready.size(); ++i) {
    ranks[ready[i]] = i;
    for (const size_t user : users[ready[i]]) {
      if (--missing[user] == 0) ready.push_back(user);
    }
  }
  return ranks;
}

// Gives each feature a mean of 0 and a deviation of 1 over the operators.
void Standardize(Operators& operators) {
  const auto width = static_cast<size_t>(operators.feature_count);
  const double count = std::max(1.0, static_cast<double>(operators.count));
  for (size_t f = 0; f < width; ++f) {
    double sum = 0;
    double squares = 0;
    for (size_t i = f; i < operators.features.size(); i += width) {
      const auto feature = static_cast<double>(operators.features[i]);
      sum += feature;
      squares += feature * feature;
    }
    const double mean = sum / count;
    const double deviation =
        std::sqrt(std::max(1e-6, squares / count - mean * mean));
    for (size_t i = f; i < operators.features.size(); i += width) {
      operators.features[i] = static_cast<float>(
          (static_cast<double>(operators.features[i]) - mean) / deviation);
    }
  }
}

}  // namespace

Operators MakeOperators(const space::AssignmentProblem& problem,
                        const space::VariableGroup& variables) {
  const std::shared_ptr<const space::Observation> graph = problem.Graph();
  const space::ObservationSpec spec = problem.observation_spec();
  const auto own = static_cast<size_t>(spec.node_features);
  const size_t nodes = graph->node_kinds.size();
  Operators operators;
  operators.count = variables.count;
  operators.kind_count = std::max(1, spec.node_kinds);
  operators.feature_count = spec.node_features + 3;

  std::vector<int32_t> operator_of(nodes, -1);
  std::vector<size_t> node_of;
  for (int32_t i = 0; i < variables.count; ++i) {
    node_of.push_back(static_cast<size_t>(problem.NodeOf(variables.first + i)));
    operator_of[node_of.back()] = i;
  }
  const std::vector<size_t> ranks = TopologicalRanks(*graph);
  std::vector<size_t> order(node_of.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return ranks[node_of[a]] < ranks[node_of[b]];
  });
  operators.positions.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    operators.positions[order[i]] =
        static_cast<float>(i) / static_cast<float>(order.size());
  }

  std::vector<float> in(nodes), out(nodes);
  const auto edge_features = static_cast<size_t>(spec.edge_features);
  for (size_t e = 0; e < graph->edge_sources.size(); ++e) {
    const auto from = static_cast<size_t>(graph->edge_sources[e]);
    const auto to = static_cast<size_t>(graph->edge_targets[e]);
    ++out[from];
    ++in[to];
    if (operator_of[from] < 0 || operator_of[to] < 0) continue;
    const float* const row = graph->edge_features.data() + e * edge_features;
    // Features of edges are sizes of what is sent.
    const float traffic =
        edge_features == 0 ? 1 : std::accumulate(row, row + edge_features, 0.F);
    operators.edges.push_back(
        {operator_of[from], operator_of[to], std::max(0.F, traffic)});
  }
  for (size_t i = 0; i < node_of.size(); ++i) {
    const size_t node = node_of[i];
    operators.kinds.push_back(graph->node_kinds[node]);
    const float* const row = graph->node_features.data() + node * own;
    operators.features.insert(operators.features.end(), row, row + own);
    operators.features.insert(
        operators.features.end(),
        {operators.positions[i], std::log1p(in[node]), std::log1p(out[node])});
  }
  Standardize(operators);
  return operators;
}

GroupRows MakeGroupRows(const Operators& operators, size_t group_count,
                        absl::Span<const absl::Span<const int32_t>> groups) {
  const auto features = static_cast<size_t>(operators.feature_count);
  const auto kinds = static_cast<size_t>(operators.kind_count);
  const size_t width = features + 1 + group_count;
  std::vector<float> all_features, all_kinds;
  std::vector<uint8_t> present;
  GroupRows rows;
  for (const absl::Span<const int32_t> sample : groups) {
    std::vector<float> sums(group_count * width), of_kinds(group_count * kinds);
    std::vector<float> sizes(group_count), positions(group_count);
    for (size_t i = 0; i < sample.size(); ++i) {
      const auto g = static_cast<size_t>(sample[i]);
      ++sizes[g];
      positions[g] += operators.positions[i];
      ++of_kinds[g * kinds + static_cast<size_t>(operators.kinds[i])];
      for (size_t f = 0; f < features; ++f) {
        sums[g * width + f] += operators.features[i * features + f];
      }
    }
    float total = 0;
    for (const Operators::Edge& edge : operators.edges) {
      const auto from =
          static_cast<size_t>(sample[static_cast<size_t>(edge.from)]);
      const auto to = static_cast<size_t>(sample[static_cast<size_t>(edge.to)]);
      total += edge.traffic;
      if (from != to) sums[from * width + features + 1 + to] += edge.traffic;
    }
    const float unit = total > 0 ? std::log1p(total) : 1;
    for (size_t g = 0; g < group_count; ++g) {
      if (sizes[g] == 0) continue;
      positions[g] /= sizes[g];
      for (size_t f = 0; f < features; ++f) sums[g * width + f] /= sizes[g];
      for (size_t k = 0; k < kinds; ++k) of_kinds[g * kinds + k] /= sizes[g];
      sums[g * width + features] =
          sizes[g] / static_cast<float>(operators.count);
      for (size_t other = 0; other < group_count; ++other) {
        float& traffic = sums[g * width + features + 1 + other];
        traffic = std::log1p(traffic) / unit;
      }
    }
    std::vector<size_t> order(group_count);
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::tuple(sizes[a] == 0, positions[a]) <
             std::tuple(sizes[b] == 0, positions[b]);
    });
    for (const size_t g : order) {
      const auto row = static_cast<std::ptrdiff_t>(g);
      all_features.insert(
          all_features.end(),
          sums.begin() + row * static_cast<std::ptrdiff_t>(width),
          sums.begin() + (row + 1) * static_cast<std::ptrdiff_t>(width));
      all_kinds.insert(
          all_kinds.end(),
          of_kinds.begin() + row * static_cast<std::ptrdiff_t>(kinds),
          of_kinds.begin() + (row + 1) * static_cast<std::ptrdiff_t>(kinds));
      present.push_back(sizes[g] > 0 ? 1 : 0);
    }
    rows.count = std::max(rows.count,
                          std::count_if(sizes.begin(), sizes.end(),
                                        [](float size) { return size > 0; }));
    rows.order.push_back(std::move(order));
  }
  const auto batch = static_cast<int64_t>(groups.size());
  const auto all = static_cast<int64_t>(group_count);
  rows.features =
      Numbers(all_features, {batch, all, static_cast<int64_t>(width)})
          .narrow(1, 0, rows.count);
  rows.kinds = Numbers(all_kinds, {batch, all, static_cast<int64_t>(kinds)})
                   .narrow(1, 0, rows.count);
  rows.present = torch::tensor(present, torch::kUInt8)
                     .view({batch, all})
                     .narrow(1, 0, rows.count)
                     .to(torch::kBool);
  return rows;
}

}  // namespace hone::learning
