#include "learning/models/spec_archive.h"

#include <stdexcept>
#include <string>
#include <vector>

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

void WriteNames(torch::serialize::OutputArchive& archive, const char* key,
                const Names& names) {
  c10::List<std::string> list;
  for (const std::string& name : names) list.push_back(name);
  archive.write(key, list);
}

Names ReadNames(torch::serialize::InputArchive& archive, const char* key) {
  Names names;
  c10::IValue list;
  archive.read(key, list);
  for (const c10::IValue& name : list.toListRef()) {
    names.push_back(name.toStringRef());
  }
  return names;
}

}  // namespace

void WriteSpec(const GameSpec& spec, const EncoderOptions& options,
               torch::serialize::OutputArchive& archive) {
  const space::ObservationSpec& observation = spec.observation;
  archive.write(kCounts, torch::tensor({int64_t{observation.node_kinds},
                                        int64_t{observation.node_features},
                                        int64_t{observation.edge_features},
                                        int64_t{observation.global_features}}));
  archive.write(kArchitecture, c10::IValue(PrintEncoderOptions(options)));
  WriteNames(archive, kActionNames, spec.actions.kind_names);
  WriteNames(archive, kActionFeatureNames, spec.actions.feature_names);
  WriteNames(archive, kNodeKindNames, observation.node_kind_names);
  WriteNames(archive, kNodeFeatureNames, observation.node_feature_names);
  WriteNames(archive, kEdgeFeatureNames, observation.edge_feature_names);
  WriteNames(archive, kGlobalFeatureNames, observation.global_feature_names);
}

SavedSpec ReadSpec(torch::serialize::InputArchive& archive) {
  torch::Tensor counts;
  archive.read(kCounts, counts);
  c10::IValue architecture;
  archive.read(kArchitecture, architecture);
  absl::StatusOr<EncoderOptions> options =
      ParseEncoderOptions(architecture.toStringRef());
  if (!options.ok()) {
    throw std::runtime_error(std::string(options.status().message()));
  }
  SavedSpec saved{{}, *options};
  space::ObservationSpec& observation = saved.spec.observation;
  observation.node_kinds = counts[0].item<int32_t>();
  observation.node_features = counts[1].item<int32_t>();
  observation.edge_features = counts[2].item<int32_t>();
  observation.global_features = counts[3].item<int32_t>();
  observation.node_kind_names = ReadNames(archive, kNodeKindNames);
  observation.node_feature_names = ReadNames(archive, kNodeFeatureNames);
  observation.edge_feature_names = ReadNames(archive, kEdgeFeatureNames);
  observation.global_feature_names = ReadNames(archive, kGlobalFeatureNames);
  saved.spec.actions.kind_names = ReadNames(archive, kActionNames);
  saved.spec.actions.feature_names = ReadNames(archive, kActionFeatureNames);
  return saved;
}

}  // namespace hone::learning
