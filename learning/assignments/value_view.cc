#include "learning/assignments/value_view.h"

namespace hone::learning {

std::vector<std::string> ValueStateNames() {
  return {"own", "of_producers", "of_consumers", "share"};
}

AssignmentSpec SpecOf(const space::AssignmentProblem& problem) {
  AssignmentSpec spec;
  spec.observation = problem.observation_spec();
  for (const space::VariableGroup& group : problem.groups()) {
    spec.groups.push_back({group.name, group.value_feature_names});
  }
  spec.move_features = problem.move_feature_names();
  return spec;
}

ValueView::ValueView(const space::AssignmentProblem& problem)
    : problem_(problem), graph_(problem.Graph()), first_score_{0} {
  for (const space::VariableGroup& group : problem.groups()) {
    first_score_.push_back(first_score_.back() +
                           static_cast<size_t>(group.count) *
                               static_cast<size_t>(group.domain));
    std::vector<int32_t>& variables =
        variable_of_.emplace_back(graph_->node_kinds.size(), -1);
    for (int32_t v = group.first; v < group.first + group.count; ++v) {
      variables[static_cast<size_t>(problem.NodeOf(v))] = v;
    }
  }
}

size_t ValueView::first_score(int32_t variable) const {
  const absl::Span<const space::VariableGroup> groups = problem_.groups();
  size_t g = 0;
  while (variable >= groups[g].first + groups[g].count) ++g;
  return first_score_[g] + static_cast<size_t>(variable - groups[g].first) *
                               static_cast<size_t>(groups[g].domain);
}

void ValueView::CountNeighbors(size_t group, absl::Span<const int32_t> from,
                               absl::Span<const int32_t> to,
                               absl::Span<const int32_t> values,
                               int32_t feature,
                               std::vector<float>& features) const {
  const space::VariableGroup& of = problem_.groups()[group];
  std::vector<float> degree(static_cast<size_t>(of.count));
  const auto each = [&](auto visit) {
    for (size_t e = 0; e < from.size(); ++e) {
      const int32_t receiver = variable_of_[group][static_cast<size_t>(to[e])];
      const int32_t sender = variable_of_[group][static_cast<size_t>(from[e])];
      if (receiver < 0 || sender < 0) continue;
      visit(static_cast<size_t>(receiver - of.first),
            static_cast<size_t>(values[static_cast<size_t>(sender)]));
    }
  };
  each([&](size_t row, size_t) { ++degree[row]; });
  each([&](size_t row, size_t value) {
    features[(row * static_cast<size_t>(of.domain) + value) * kValueFeatures +
             static_cast<size_t>(feature)] += 1 / degree[row];
  });
}

std::vector<float> ValueView::Features(size_t group,
                                       absl::Span<const int32_t> values) const {
  const space::VariableGroup& of = problem_.groups()[group];
  const auto domain = static_cast<size_t>(of.domain);
  const auto count = static_cast<size_t>(of.count);
  std::vector<float> features(count * domain * kValueFeatures);
  std::vector<float> share(domain);
  for (size_t row = 0; row < count; ++row) {
    const auto value =
        static_cast<size_t>(values[static_cast<size_t>(of.first) + row]);
    features[(row * domain + value) * kValueFeatures] = 1;
    share[value] += static_cast<float>(domain) / static_cast<float>(count) / 4;
  }
  for (size_t i = 0; i < count * domain; ++i) {
    features[i * kValueFeatures + 3] = share[i % domain];
  }
  CountNeighbors(group, graph_->edge_sources, graph_->edge_targets, values, 1,
                 features);
  CountNeighbors(group, graph_->edge_targets, graph_->edge_sources, values, 2,
                 features);
  return features;
}

}  // namespace hone::learning
