#include "optimizers/policies/model/model.h"

#include <sstream>
#include <stdexcept>
#include <utility>

#include "absl/synchronization/mutex.h"
#include <cblas.h>

#include "base/status_macros.h"
#include "optimizers/policies/model/network.h"
#include "optimizers/policies/model/spec_match.h"

namespace hone::optimizers::policies {
namespace {

// Searches run on several threads of our own; those of Torch, and of the BLAS
// under it, would only compete (and spin while they wait).
void UseOneThread() {
  static const bool done = [] {
    at::set_num_threads(1);
    openblas_set_num_threads(1);
    return true;
  }();
  (void)done;
}

// The spec as saved beside the weights: counts, and names if there are any.
constexpr char kCounts[] = "spec";
constexpr char kActionNames[] = "action_names";
constexpr char kNodeKindNames[] = "node_kind_names";
constexpr char kGlobalFeatureNames[] = "global_feature_names";

void WriteNames(torch::serialize::OutputArchive& archive, const char* key,
                const std::vector<std::string>& names) {
  if (names.empty()) return;
  c10::List<std::string> list;
  for (const std::string& name : names) list.push_back(name);
  archive.write(key, list);
}

void WriteSpec(torch::serialize::OutputArchive& archive, const GameSpec& spec) {
  const space::ObservationSpec& observation = spec.observation;
  archive.write(kCounts, torch::tensor({int64_t{observation.node_kinds},
                                        int64_t{observation.node_features},
                                        int64_t{observation.global_features},
                                        int64_t{spec.move_kinds}}));
  WriteNames(archive, kActionNames, spec.action_names);
  WriteNames(archive, kNodeKindNames, observation.node_kind_names);
  WriteNames(archive, kGlobalFeatureNames, observation.global_feature_names);
}

// Returns no names if the archive has none. Throws if there are not `count`.
std::vector<std::string> ReadNames(torch::serialize::InputArchive& archive,
                                   const char* key, int32_t count) {
  std::vector<std::string> names;
  c10::IValue list;
  if (!archive.try_read(key, list)) return names;
  for (const c10::IValue& name : list.toListRef()) {
    names.push_back(name.toStringRef());
  }
  if (names.size() != static_cast<size_t>(count)) {
    throw std::runtime_error(key);
  }
  return names;
}

// Throws if the archive has no spec.
GameSpec ReadSpec(torch::serialize::InputArchive& archive) {
  torch::Tensor counts;
  archive.read(kCounts, counts);
  GameSpec spec;
  space::ObservationSpec& observation = spec.observation;
  observation.node_kinds = counts[0].item<int32_t>();
  observation.node_features = counts[1].item<int32_t>();
  observation.global_features = counts[2].item<int32_t>();
  spec.move_kinds = counts[3].item<int32_t>();
  spec.action_names = ReadNames(archive, kActionNames, spec.move_kinds - 1);
  observation.node_kind_names =
      ReadNames(archive, kNodeKindNames, observation.node_kinds);
  observation.global_feature_names =
      ReadNames(archive, kGlobalFeatureNames, observation.global_features);
  return spec;
}

}  // namespace

Model::Model(const GameSpec& spec, uint64_t seed) : spec_(spec) {
  UseOneThread();
  // Torch draws initial weights from one generator for the whole process.
  static absl::Mutex mu(absl::kConstInit);
  absl::MutexLock lock(&mu);
  torch::manual_seed(seed);
  network_ = std::make_shared<NetworkImpl>(spec);
}

Model::~Model() = default;

absl::StatusOr<std::unique_ptr<Model>> Model::Parse(absl::string_view bytes,
                                                    const GameSpec& spec) {
  try {
    std::istringstream in{std::string(bytes)};
    torch::serialize::InputArchive archive;
    archive.load_from(in);
    HONE_ASSIGN_OR_RETURN(const SpecMatch match,
                          MatchSpecs(ReadSpec(archive), spec));
    auto model = std::make_unique<Model>(spec, 0);
    model->network_->LoadMatched(archive, match);
    return model;
  } catch (const std::exception&) {
    // Torch's messages are stack traces.
    return absl::InvalidArgumentError(
        "not the weights of a policy, expected a file that `hone train` wrote");
  }
}

std::string Model::Serialize() const {
  torch::serialize::OutputArchive archive;
  WriteSpec(archive, spec_);
  network_->save(archive);
  std::ostringstream out;
  archive.save_to(out);
  return std::move(out).str();
}

void Model::CopyWeights(const Model& other) {
  torch::NoGradGuard no_grad;
  const auto source = other.network_->parameters();
  const auto target = network_->parameters();
  for (size_t i = 0; i < target.size(); ++i) target[i].copy_(source[i]);
}

std::vector<MoveScores> Model::Score(
    absl::Span<const View* const> views) const {
  torch::InferenceMode inference;
  return ReadScores(network_->forward(MakeBatch(views, spec_)), views);
}

}  // namespace hone::optimizers::policies
