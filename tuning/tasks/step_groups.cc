#include "tuning/tasks/step_groups.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace hone::tuning {
namespace {

// Groups of the last level of pairs have up to 2^kLevels units.
constexpr int kLevels = 9;

struct Edge {
  uint32_t a;
  uint32_t b;
  double seconds;
};

// Adds up the edges between the same groups and drops those inside.
void Merge(std::vector<Edge>& edges) {
  for (Edge& edge : edges) {
    if (edge.a > edge.b) std::swap(edge.a, edge.b);
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& x, const Edge& y) {
    return std::tie(x.a, x.b) < std::tie(y.a, y.b);
  });
  size_t kept = 0;
  for (const Edge& edge : edges) {
    if (edge.a == edge.b) continue;
    if (kept > 0 && edges[kept - 1].a == edge.a &&
        edges[kept - 1].b == edge.b) {
      edges[kept - 1].seconds += edge.seconds;
    } else {
      edges[kept++] = edge;
    }
  }
  edges.resize(kept);
}

}  // namespace

StepGroups::Level StepGroups::MakeLevel(std::vector<uint32_t> group_of,
                                        uint32_t count) {
  Level level;
  level.begin.assign(count + size_t{1}, 0);
  for (const uint32_t group : group_of) ++level.begin[group + size_t{1}];
  std::partial_sum(level.begin.begin(), level.begin.end(), level.begin.begin());
  level.members.resize(group_of.size());
  std::vector<size_t> next(level.begin.begin(), level.begin.end() - 1);
  for (size_t unit = 0; unit < group_of.size(); ++unit) {
    level.members[next[group_of[unit]]++] = static_cast<uint32_t>(unit);
  }
  level.group_of = std::move(group_of);
  return level;
}

StepGroups::StepGroups(const StepSpace& space) {
  const size_t units = space.unit_count();
  constexpr uint32_t kNone = ~uint32_t{0};
  const graphs::KernelGraph& kernels = *space.default_kernels();
  std::vector<Edge> edges;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const auto kernel = static_cast<graphs::KernelIndex>(k);
    for (const graphs::KernelGraph::Use& use : kernels.uses(kernel)) {
      edges.push_back(
          {kernel, use.kernel, space.times().MeanTransferSeconds(use.bytes)});
    }
  }
  std::vector<uint32_t> group_of(units);
  std::iota(group_of.begin(), group_of.end(), 0);
  levels_.push_back(MakeLevel(group_of, static_cast<uint32_t>(units)));
  // Groups of more than one unit consist of the kernels of the default fusion:
  // fused nodes are with the first kernel that computes them.
  std::vector<int32_t> numbers(kernels.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::vector<int32_t> kernel_of =
      space.DevicesOfNodes(kernels, space.default_fusion(), numbers);
  for (size_t u = 0; u < units; ++u) {
    group_of[u] = static_cast<uint32_t>(kernel_of[space.node_of(u)]);
  }
  auto count = static_cast<uint32_t>(kernels.size());
  for (int i = 0; i < kLevels; ++i) {
    Merge(edges);
    std::stable_sort(
        edges.begin(), edges.end(),
        [](const Edge& a, const Edge& b) { return a.seconds > b.seconds; });
    std::vector<uint32_t> joined(count, kNone);
    uint32_t next = 0;
    for (const Edge& edge : edges) {
      if (joined[edge.a] == kNone && joined[edge.b] == kNone) {
        joined[edge.a] = joined[edge.b] = next++;
      }
    }
    // What has no partner left joins its heaviest neighbor.
    for (const Edge& edge : edges) {
      if (joined[edge.a] == kNone) joined[edge.a] = joined[edge.b];
      if (joined[edge.b] == kNone) joined[edge.b] = joined[edge.a];
    }
    for (uint32_t& group : joined) {
      if (group == kNone) group = next++;
    }
    if (next == count) break;
    count = next;
    for (uint32_t& group : group_of) group = joined[group];
    for (Edge& edge : edges) {
      edge.a = joined[edge.a];
      edge.b = joined[edge.b];
    }
    levels_.push_back(MakeLevel(group_of, count));
  }
  absl::flat_hash_map<std::string, uint32_t> scopes;
  for (size_t u = 0; u < units; ++u) {
    const auto number = static_cast<uint32_t>(scopes.size());
    group_of[u] =
        scopes.try_emplace(space.graph().node(space.node_of(u)).scope, number)
            .first->second;
  }
  if (scopes.size() > 1) {
    levels_.push_back(
        MakeLevel(group_of, static_cast<uint32_t>(scopes.size())));
  }
}

}  // namespace hone::tuning
