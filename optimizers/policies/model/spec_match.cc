#include "optimizers/policies/model/spec_match.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace hone::optimizers::policies {
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

// Matches by name or, if either side has no names, by index; nullopt if the
// counts then differ.
std::optional<std::vector<int64_t>> Match(int32_t saved_count,
                                          const Names& saved_names,
                                          int32_t count, const Names& names) {
  if (!saved_names.empty() && !names.empty()) {
    return MatchNames(saved_names, names);
  }
  if (saved_count != count) return std::nullopt;
  std::vector<int64_t> match(static_cast<size_t>(count));
  std::iota(match.begin(), match.end(), 0);
  return match;
}

bool IsUnknown(int64_t index) { return index == kUnknown; }

std::string Describe(const GameSpec& spec) {
  return absl::StrCat(spec.observation.node_kinds, " node kinds, ",
                      spec.observation.node_features, " node features, ",
                      spec.observation.global_features, " global features, ",
                      spec.move_kinds, " moves");
}

}  // namespace

absl::StatusOr<SpecMatch> MatchSpecs(const GameSpec& saved,
                                     const GameSpec& spec) {
  const space::ObservationSpec& from = saved.observation;
  const space::ObservationSpec& to = spec.observation;
  std::optional<std::vector<int64_t>> moves = Match(
      saved.move_kinds, saved.action_names, spec.move_kinds, spec.action_names);
  std::optional<std::vector<int64_t>> node_kinds = Match(
      from.node_kinds, from.node_kind_names, to.node_kinds, to.node_kind_names);
  std::optional<std::vector<int64_t>> global_features =
      Match(from.global_features, from.global_feature_names, to.global_features,
            to.global_feature_names);
  if (from.node_features != to.node_features || !moves || !node_kinds ||
      !global_features) {
    return absl::InvalidArgumentError(absl::StrCat(
        "weights are for ", Describe(saved), ", expected ", Describe(spec)));
  }
  if (!saved.action_names.empty() && !spec.action_names.empty()) {
    if (std::all_of(moves->begin(), moves->end(), IsUnknown)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "weights know none of the actions, such as '", spec.action_names[0],
          "', but others, such as '", saved.action_names[0], "'"));
    }
    // To stop has no name.
    moves->push_back(saved.move_kinds - 1);
  }
  return SpecMatch{*std::move(moves), *std::move(node_kinds),
                   *std::move(global_features)};
}

}  // namespace hone::optimizers::policies
