#include "optimizers/policies/spec_digest.h"

#include "absl/strings/str_cat.h"

#include "base/hash.h"

namespace hone::optimizers::policies {
namespace {

// Adds a list so that no other lists give the same text.
void Append(const std::vector<std::string>& names, std::string& text) {
  absl::StrAppend(&text, names.size(), ";");
  for (const std::string& name : names) {
    absl::StrAppend(&text, name.size(), ":", name);
  }
}

}  // namespace

std::string DigestOf(const space::ObservationSpec& spec,
                     absl::Span<const std::vector<std::string>> lists) {
  std::string text =
      absl::StrCat(spec.node_kinds, ",", spec.node_features, ",",
                   spec.edge_features, ",", spec.global_features, ";");
  for (const auto* names :
       {&spec.node_kind_names, &spec.node_feature_names,
        &spec.edge_feature_names, &spec.global_feature_names}) {
    Append(*names, text);
  }
  for (const std::vector<std::string>& names : lists) Append(names, text);
  return Sha256Hex(text);
}

std::string DigestOf(const learning::AssignmentSpec& spec) {
  std::vector<std::vector<std::string>> lists = {spec.state_features};
  if (!spec.move_features.empty()) lists.push_back(spec.move_features);
  for (const learning::AssignmentSpec::Group& group : spec.groups) {
    lists.push_back({group.name});
    lists.push_back(group.value_feature_names);
  }
  return DigestOf(spec.observation, lists);
}

}  // namespace hone::optimizers::policies
