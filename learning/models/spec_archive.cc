#include "learning/models/spec_archive.h"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace hone::learning {
namespace {

using Names = std::vector<std::string>;

// Keys in the archive.
constexpr char kCounts[] = "spec";
constexpr char kArchitecture[] = "architecture";
constexpr char kActionNames[] = "action_names";
constexpr char kActionFeatureNames[] = "action_feature_names";
constexpr char kNodeKindNames[] = "node_kind_names";
constexpr char kNodeFeatureNames[] = "node_feature_names";
constexpr char kEdgeFeatureNames[] = "edge_feature_names";
constexpr char kGlobalFeatureNames[] = "global_feature_names";
constexpr char kGroupNames[] = "group_names";
constexpr char kValueFeatureNames[] = "value_feature_names";  // and a number
constexpr char kStateFeatureNames[] = "state_feature_names";
constexpr char kMoveFeatureNames[] = "move_feature_names";
constexpr char kConfigNames[] = "config_names";
constexpr char kHeadNames[] = "head_names";
constexpr char kHeadTargets[] = "head_targets";
constexpr char kFeatureVersion[] = "feature_version";

// Values of kHeadTargets.
constexpr char kTimeTarget[] = "time";
constexpr char kOrderTarget[] = "order";

void WriteNames(torch::serialize::OutputArchive& archive,
                const std::string& key, const Names& names) {
  c10::List<std::string> list;
  for (const std::string& name : names) list.push_back(name);
  archive.write(key, list);
}

Names ReadNames(torch::serialize::InputArchive& archive,
                const std::string& key) {
  Names names;
  c10::IValue list;
  archive.read(key, list);
  for (const c10::IValue& name : list.toListRef()) {
    names.push_back(name.toStringRef());
  }
  return names;
}

void WriteArchitecture(const space::ObservationSpec& observation,
                       const std::string& options,
                       torch::serialize::OutputArchive& archive) {
  archive.write(kCounts, torch::tensor({int64_t{observation.node_kinds},
                                        int64_t{observation.node_features},
                                        int64_t{observation.edge_features},
                                        int64_t{observation.global_features}}));
  archive.write(kArchitecture, c10::IValue(options));
}

void WriteNamesOf(const space::ObservationSpec& observation,
                  torch::serialize::OutputArchive& archive) {
  WriteNames(archive, kNodeKindNames, observation.node_kind_names);
  WriteNames(archive, kNodeFeatureNames, observation.node_feature_names);
  WriteNames(archive, kEdgeFeatureNames, observation.edge_feature_names);
  WriteNames(archive, kGlobalFeatureNames, observation.global_feature_names);
}

// Reads the text of an option or a version.
std::string ReadText(torch::serialize::InputArchive& archive,
                     const std::string& key) {
  c10::IValue text;
  archive.read(key, text);
  return text.toStringRef();
}

template <typename Options>
Options ValueOrThrow(const absl::StatusOr<Options>& options) {
  if (options.ok()) return *options;
  throw std::runtime_error(std::string(options.status().message()));
}

void ReadObservation(torch::serialize::InputArchive& archive,
                     space::ObservationSpec& observation) {
  torch::Tensor counts;
  archive.read(kCounts, counts);
  observation.node_kinds = counts[0].item<int32_t>();
  observation.node_features = counts[1].item<int32_t>();
  observation.edge_features = counts[2].item<int32_t>();
  observation.global_features = counts[3].item<int32_t>();
  observation.node_kind_names = ReadNames(archive, kNodeKindNames);
  observation.node_feature_names = ReadNames(archive, kNodeFeatureNames);
  observation.edge_feature_names = ReadNames(archive, kEdgeFeatureNames);
  observation.global_feature_names = ReadNames(archive, kGlobalFeatureNames);
}

}  // namespace

void WriteSpec(const GameSpec& spec, const EncoderOptions& options,
               torch::serialize::OutputArchive& archive) {
  WriteArchitecture(spec.observation, PrintEncoderOptions(options), archive);
  WriteNames(archive, kActionNames, spec.actions.kind_names);
  WriteNames(archive, kActionFeatureNames, spec.actions.feature_names);
  WriteNamesOf(spec.observation, archive);
}

void WriteSpec(const AssignmentSpec& spec, const EncoderOptions& options,
               torch::serialize::OutputArchive& archive) {
  WriteArchitecture(spec.observation, PrintEncoderOptions(options), archive);
  WriteNamesOf(spec.observation, archive);
  Names groups;
  for (size_t g = 0; g < spec.groups.size(); ++g) {
    groups.push_back(spec.groups[g].name);
    WriteNames(archive, absl::StrCat(kValueFeatureNames, g),
               spec.groups[g].value_feature_names);
  }
  WriteNames(archive, kGroupNames, groups);
  WriteNames(archive, kStateFeatureNames, spec.state_features);
  WriteNames(archive, kMoveFeatureNames, spec.move_features);
}

void WriteSpec(const CostSpec& spec, const CostOptions& options,
               torch::serialize::OutputArchive& archive) {
  WriteArchitecture(spec.graph, PrintCostOptions(options), archive);
  WriteNamesOf(spec.graph, archive);
  WriteNames(archive, kConfigNames, spec.config_names);
  Names heads, targets;
  for (const CostHead& head : spec.heads) {
    heads.push_back(head.name);
    targets.emplace_back(head.target == CostTarget::kTime ? kTimeTarget
                                                          : kOrderTarget);
  }
  WriteNames(archive, kHeadNames, heads);
  WriteNames(archive, kHeadTargets, targets);
  archive.write(kFeatureVersion, c10::IValue(spec.features));
}

template <>
SavedSpec<GameSpec> ReadSpec(torch::serialize::InputArchive& archive) {
  SavedSpec<GameSpec> saved;
  ReadObservation(archive, saved.spec.observation);
  saved.options =
      ValueOrThrow(ParseEncoderOptions(ReadText(archive, kArchitecture)));
  saved.spec.actions.kind_names = ReadNames(archive, kActionNames);
  saved.spec.actions.feature_names = ReadNames(archive, kActionFeatureNames);
  return saved;
}

template <>
SavedSpec<AssignmentSpec> ReadSpec(torch::serialize::InputArchive& archive) {
  SavedSpec<AssignmentSpec> saved;
  ReadObservation(archive, saved.spec.observation);
  saved.options =
      ValueOrThrow(ParseEncoderOptions(ReadText(archive, kArchitecture)));
  for (std::string& name : ReadNames(archive, kGroupNames)) {
    const size_t g = saved.spec.groups.size();
    saved.spec.groups.push_back(
        {std::move(name),
         ReadNames(archive, absl::StrCat(kValueFeatureNames, g))});
  }
  saved.spec.state_features = ReadNames(archive, kStateFeatureNames);
  saved.spec.move_features = ReadNames(archive, kMoveFeatureNames);
  return saved;
}

template <>
SavedSpec<CostSpec> ReadSpec(torch::serialize::InputArchive& archive) {
  SavedSpec<CostSpec> saved;
  CostSpec& spec = saved.spec;
  ReadObservation(archive, spec.graph);
  saved.options =
      ValueOrThrow(ParseCostOptions(ReadText(archive, kArchitecture)));
  spec.config_names = ReadNames(archive, kConfigNames);
  const Names targets = ReadNames(archive, kHeadTargets);
  for (std::string& name : ReadNames(archive, kHeadNames)) {
    const std::string& target = targets.at(spec.heads.size());
    spec.heads.push_back({std::move(name), target == kTimeTarget
                                               ? CostTarget::kTime
                                               : CostTarget::kOrder});
  }
  spec.features = ReadText(archive, kFeatureVersion);
  const absl::Status status = CheckCostSpec(spec);
  if (!status.ok()) throw std::runtime_error(std::string(status.message()));
  return saved;
}

template <>
bool HasSpec<GameSpec>(torch::serialize::InputArchive& archive) {
  c10::IValue names;
  return archive.try_read(kActionNames, names);
}

template <>
bool HasSpec<AssignmentSpec>(torch::serialize::InputArchive& archive) {
  c10::IValue names;
  return archive.try_read(kGroupNames, names);
}

template <>
bool HasSpec<CostSpec>(torch::serialize::InputArchive& archive) {
  c10::IValue names;
  return archive.try_read(kHeadNames, names);
}

}  // namespace hone::learning
