#include "learning/models/model.h"

#include "learning/models/weights_archive.h"
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
  return ParseWeights<Model>(bytes, &spec);
}

absl::StatusOr<std::unique_ptr<Model>> Model::ParseAsSaved(
    absl::string_view bytes) {
  return ParseWeights<Model, GameSpec>(bytes, nullptr);
}

std::string Model::Serialize() const {
  return SerializeWeights(spec_, options_, *network_);
}

void Model::CopyWeights(const Model& other) {
  CopyParameters(*other.network_, *network_);
}

std::vector<std::string> Model::CopyMatching(const Model& other) {
  return CopyMatchingParameters(*other.network_, *network_);
}

std::vector<MoveScores> Model::Score(
    absl::Span<const View* const> views) const {
  torch::InferenceMode inference;
  return ReadScores(network_->forward(MakeBatch(views, spec_)), views);
}

}  // namespace hone::learning
