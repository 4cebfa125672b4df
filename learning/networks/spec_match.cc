#include "learning/networks/spec_match.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

#include "base/status_macros.h"

namespace hone::learning {
namespace {

using Names = std::vector<std::string>;

std::vector<int64_t> MatchNames(const Names& saved, const Names& names) {
  absl::flat_hash_map<absl::string_view, std::deque<int64_t>> indices;
  for (size_t i = 0; i < saved.size(); ++i) {
    indices[saved[i]].push_back(static_cast<int64_t>(i));
  }
  std::vector<int64_t> match;
  for (const std::string& name : names) {
    const auto it = indices.find(name);
    if (it == indices.end() || it->second.empty()) {
      match.push_back(kUnknown);
      continue;
    }
    match.push_back(it->second.front());
    it->second.pop_front();
  }
  return match;
}

// Weights that know nothing of a list are those of another problem.
absl::Status CheckSomeKnown(absl::string_view list,
                            const std::vector<int64_t>& match,
                            const Names& saved, const Names& names) {
  if (saved.empty() || names.empty() ||
      std::any_of(match.begin(), match.end(),
                  [](int64_t index) { return index != kUnknown; })) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("weights know none of the ", list, ", such as '", names[0],
                   "', but others, such as '", saved[0], "'"));
}

// Matches by name or, if either side has no names, by index.
absl::StatusOr<std::vector<int64_t>> Match(absl::string_view list,
                                           int32_t saved_count,
                                           const Names& saved_names,
                                           int32_t count, const Names& names) {
  if (!saved_names.empty() && !names.empty()) {
    std::vector<int64_t> match = MatchNames(saved_names, names);
    HONE_RETURN_IF_ERROR(CheckSomeKnown(list, match, saved_names, names));
    return match;
  }
  if (saved_count != count) {
    return absl::InvalidArgumentError(absl::StrCat(
        "weights are for ", saved_count, " ", list, ", expected ", count));
  }
  std::vector<int64_t> match(static_cast<size_t>(count));
  std::iota(match.begin(), match.end(), 0);
  return match;
}

absl::Status MatchObservations(const space::ObservationSpec& from,
                               const space::ObservationSpec& to,
                               ObservationMatch& match) {
  HONE_ASSIGN_OR_RETURN(
      match.node_kinds,
      Match("node kinds", from.node_kinds, from.node_kind_names, to.node_kinds,
            to.node_kind_names));
  HONE_ASSIGN_OR_RETURN(
      match.node_features,
      Match("node features", from.node_features, from.node_feature_names,
            to.node_features, to.node_feature_names));
  // Layers for edge features are there only if there are any.
  if ((from.edge_features > 0) != (to.edge_features > 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("weights are for ", from.edge_features,
                     " edge features, expected ", to.edge_features));
  }
  HONE_ASSIGN_OR_RETURN(
      match.edge_features,
      Match("edge features", from.edge_features, from.edge_feature_names,
            to.edge_features, to.edge_feature_names));
  HONE_ASSIGN_OR_RETURN(
      match.global_features,
      Match("global features", from.global_features, from.global_feature_names,
            to.global_features, to.global_feature_names));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SpecMatch> MatchSpecs(const GameSpec& saved,
                                     const GameSpec& spec) {
  SpecMatch match;
  HONE_RETURN_IF_ERROR(
      MatchObservations(saved.observation, spec.observation, match));
  match.move_features =
      MatchNames(saved.actions.feature_names, spec.actions.feature_names);
  match.move_kinds =
      MatchNames(saved.actions.kind_names, spec.actions.kind_names);
  HONE_RETURN_IF_ERROR(CheckSomeKnown("actions", match.move_kinds,
                                      saved.actions.kind_names,
                                      spec.actions.kind_names));
  // To stop has no name.
  match.move_kinds.push_back(saved.move_kinds() - 1);
  return match;
}

absl::StatusOr<AssignmentMatch> MatchSpecs(const AssignmentSpec& saved,
                                           const AssignmentSpec& spec) {
  AssignmentMatch match;
  HONE_RETURN_IF_ERROR(
      MatchObservations(saved.observation, spec.observation, match));
  match.state_features = MatchNames(saved.state_features, spec.state_features);
  match.move_features = MatchNames(saved.move_features, spec.move_features);
  // The layers for moves are there only if they are described.
  if (saved.move_features.empty() != spec.move_features.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "weights are for ", saved.move_features.size(),
        " features of moves, expected ", spec.move_features.size()));
  }
  HONE_RETURN_IF_ERROR(CheckSomeKnown("features of moves", match.move_features,
                                      saved.move_features, spec.move_features));
  for (const AssignmentSpec::Group& group : spec.groups) {
    const auto known = std::find_if(
        saved.groups.begin(), saved.groups.end(),
        [&](const AssignmentSpec::Group& of) { return of.name == group.name; });
    if (known == saved.groups.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "weights have no variables '", group.name, "', but ",
          absl::StrJoin(saved.groups, ", ",
                        [](std::string* out, const AssignmentSpec::Group& of) {
                          absl::StrAppend(out, "'", of.name, "'");
                        })));
    }
    match.value_features.push_back(
        MatchNames(known->value_feature_names, group.value_feature_names));
    HONE_RETURN_IF_ERROR(CheckSomeKnown(
        absl::StrCat("features of a ", group.name), match.value_features.back(),
        known->value_feature_names, group.value_feature_names));
  }
  return match;
}

absl::StatusOr<CostMatch> MatchSpecs(const CostSpec& saved,
                                     const CostSpec& spec) {
  if (saved.features != spec.features) {
    return absl::InvalidArgumentError(absl::StrCat(
        "weights are for version '", saved.features,
        "' of the features, expected version '", spec.features, "'"));
  }
  CostMatch match;
  HONE_RETURN_IF_ERROR(MatchObservations(saved.graph, spec.graph, match));
  match.saved_node_features = saved.graph.node_features;
  match.config = MatchNames(saved.config_names, spec.config_names);
  HONE_RETURN_IF_ERROR(CheckSomeKnown("features of a configuration",
                                      match.config, saved.config_names,
                                      spec.config_names));
  for (const CostHead& head : spec.heads) {
    const auto known = FindHead(saved, head.name);
    if (!known.ok()) {
      return absl::InvalidArgumentError(known.status().message());
    }
    if (saved.heads[static_cast<size_t>(*known)].target != head.target) {
      return absl::InvalidArgumentError(absl::StrCat(
          "weights of head '", head.name, "' predict ",
          head.target == CostTarget::kTime ? "an order, expected times"
                                           : "times, expected an order"));
    }
  }
  return match;
}

}  // namespace hone::learning
