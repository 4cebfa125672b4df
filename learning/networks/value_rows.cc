#include "learning/networks/value_rows.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "learning/networks/tensors.h"

namespace hone::learning {
namespace {

// Scores computed at a time; one takes about a kilobyte in the heads.
constexpr int32_t kScoresPerPart = 1 << 16;

}  // namespace

void ForValueRows(
    const ValueView& view, absl::Span<const int32_t> values,
    const std::function<void(const ValueRows& rows, int32_t first)>& body) {
  const space::AssignmentProblem& problem = view.problem();
  for (size_t g = 0; g < problem.groups().size(); ++g) {
    const space::VariableGroup& group = problem.groups()[g];
    if (group.count == 0) continue;
    const std::vector<float> all = view.Features(g, values);
    const torch::Tensor features =
        Numbers(all, {group.count, group.domain, kValueFeatures});
    std::vector<int32_t> nodes;
    for (int32_t v = group.first; v < group.first + group.count; ++v) {
      nodes.push_back(problem.NodeOf(v));
    }
    const torch::Tensor node_ids = Ids(nodes, {group.count});
    ValueRows rows;
    rows.group = g;
    rows.value_features = Numbers(
        problem.ValueFeatures(static_cast<int32_t>(g)),
        {group.domain, static_cast<int64_t>(group.value_feature_names.size())});
    const int32_t step = std::max(kScoresPerPart / group.domain, 1);
    for (int32_t begin = 0; begin < group.count; begin += step) {
      const int32_t count = std::min(step, group.count - begin);
      rows.nodes = node_ids.narrow(0, begin, count);
      rows.features = features.narrow(0, begin, count);
      body(rows, group.first + begin);
    }
  }
}

}  // namespace hone::learning
