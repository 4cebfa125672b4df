#include "space/assignment_problem.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>

#include "space/complete.h"

namespace hone::space {

int32_t AssignmentProblem::variable_count() const {
  const absl::Span<const VariableGroup> all = groups();
  return all.empty() ? 0 : all.back().first + all.back().count;
}

const VariableGroup& AssignmentProblem::GroupOf(int32_t variable) const {
  const absl::Span<const VariableGroup> all = groups();
  return *std::prev(std::upper_bound(
      all.begin(), all.end(), variable,
      [](int32_t v, const VariableGroup& group) { return v < group.first; }));
}

std::shared_ptr<const Observation> AssignmentProblem::Graph() const {
  static const auto* const single = new std::shared_ptr<const Observation>(
      std::make_shared<Observation>(Observation{.node_kinds = {0}}));
  return *single;
}

int32_t AssignmentProblem::NodeOf(int32_t) const { return 0; }

std::vector<float> AssignmentProblem::ValueFeatures(int32_t group) const {
  const VariableGroup& of = groups()[static_cast<size_t>(group)];
  return std::vector<float>(static_cast<size_t>(of.domain) *
                            of.value_feature_names.size());
}

std::unique_ptr<Domains> AssignmentProblem::MakeDomains() const {
  std::vector<int32_t> sizes;
  sizes.reserve(static_cast<size_t>(variable_count()));
  for (const VariableGroup& group : groups()) {
    sizes.insert(sizes.end(), static_cast<size_t>(group.count), group.domain);
  }
  return MakeFreeDomains(std::move(sizes));
}

std::optional<std::vector<int32_t>> AssignmentProblem::Draw(
    Domains& domains, Rng& rng, const std::function<bool()>& stop) const {
  std::vector<int32_t> order(static_cast<size_t>(variable_count()));
  std::iota(order.begin(), order.end(), 0);
  return Complete(
      domains, order,
      [&](int32_t, uint64_t left) { return DrawValue(left, rng); }, stop);
}

std::optional<std::vector<int32_t>> AssignmentProblem::Construct(
    absl::Span<const float>) const {
  return std::nullopt;
}

std::unique_ptr<LocalState> AssignmentProblem::MakeLocal(
    const Candidate&) const {
  return nullptr;
}

}  // namespace hone::space
