#include "learning/models/model.h"

#include <sstream>
#include <utility>

#include "base/status_macros.h"
#include "learning/games/spec_match.h"
#include "learning/models/spec_archive.h"
#include "learning/networks/move_network.h"
#include "learning/networks/torch_threads.h"

namespace hone::learning {

Model::Model(const GameSpec& spec, const EncoderOptions& options, uint64_t seed)
    : spec_(spec), options_(options) {
  WithSeed(seed, [&] {
    network_ = std::make_shared<MoveNetworkImpl>(spec_, options_);
  });
}

Model::~Model() = default;

absl::StatusOr<std::unique_ptr<Model>> Model::Parse(absl::string_view bytes,
                                                    const GameSpec& spec) {
  try {
    std::istringstream in{std::string(bytes)};
    torch::serialize::InputArchive archive;
    archive.load_from(in);
    const SavedSpec saved = ReadSpec(archive);
    HONE_ASSIGN_OR_RETURN(const SpecMatch match, MatchSpecs(saved.spec, spec));
    auto model = std::make_unique<Model>(spec, saved.options, 0);
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
  WriteSpec(spec_, options_, archive);
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

std::vector<std::string> Model::CopyMatching(const Model& other) {
  torch::NoGradGuard no_grad;
  const auto source = other.network_->named_parameters();
  std::vector<std::string> left;
  for (auto& parameter : network_->named_parameters()) {
    const torch::Tensor* from = source.find(parameter.key());
    if (from != nullptr && from->sizes() == parameter.value().sizes()) {
      parameter.value().copy_(*from);
    } else {
      left.push_back(parameter.key());
    }
  }
  return left;
}

std::vector<MoveScores> Model::Score(
    absl::Span<const View* const> views) const {
  torch::InferenceMode inference;
  return ReadScores(network_->forward(MakeBatch(views, spec_)), views);
}

}  // namespace hone::learning
