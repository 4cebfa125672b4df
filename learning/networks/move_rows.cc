#include "learning/networks/move_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "learning/networks/tensors.h"

namespace hone::learning {
namespace {

// Changes of a move that are looked at.
constexpr size_t kMostChanges = 32;

}  // namespace

MoveRows MakeMoveRows(const ValueView& view,
                      absl::Span<const DescribedMove* const> moves) {
  const space::AssignmentProblem& problem = view.problem();
  const absl::Span<const space::VariableGroup> groups = problem.groups();
  struct Lists {
    std::vector<int32_t> moves, nodes, values;
  };
  std::vector<Lists> lists(groups.size());
  std::vector<float> features;
  std::vector<float> counts;
  for (size_t m = 0; m < moves.size(); ++m) {
    const std::vector<space::Change>& changes = moves[m]->changes;
    const size_t step = changes.size() / kMostChanges + 1;
    size_t taken = 0;
    for (size_t i = 0; i < changes.size(); i += step, ++taken) {
      const space::VariableGroup& group = problem.GroupOf(changes[i].variable);
      Lists& list = lists[static_cast<size_t>(&group - groups.data())];
      list.moves.push_back(static_cast<int32_t>(m));
      list.nodes.push_back(problem.NodeOf(changes[i].variable));
      list.values.push_back(changes[i].value);
    }
    counts.push_back(static_cast<float>(std::max<size_t>(1, taken)));
    features.insert(features.end(), moves[m]->features.begin(),
                    moves[m]->features.end());
  }
  MoveRows rows;
  for (size_t g = 0; g < groups.size(); ++g) {
    const auto count = static_cast<int64_t>(lists[g].moves.size());
    rows.groups.push_back({Ids(lists[g].moves, {count}),
                           Ids(lists[g].nodes, {count}),
                           Ids(lists[g].values, {count})});
    rows.value_features.push_back(
        Numbers(problem.ValueFeatures(static_cast<int32_t>(g)),
                {groups[g].domain,
                 static_cast<int64_t>(groups[g].value_feature_names.size())}));
  }
  const auto count = static_cast<int64_t>(moves.size());
  rows.features = Numbers(
      features,
      {count, count == 0 ? 0 : static_cast<int64_t>(features.size()) / count});
  rows.counts = Numbers(counts, {count, 1});
  return rows;
}

}  // namespace hone::learning
