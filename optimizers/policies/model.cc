#include "optimizers/policies/model.h"

#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include <cblas.h>

#include "optimizers/policies/network.h"

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

// The spec as saved beside the weights.
torch::Tensor SpecTensor(const GameSpec& spec) {
  return torch::tensor({int64_t{spec.observation.node_kinds},
                        int64_t{spec.observation.node_features},
                        int64_t{spec.observation.global_features},
                        int64_t{spec.move_kinds}});
}

std::string Describe(const torch::Tensor& spec) {
  return absl::StrCat(spec[0].item<int64_t>(), " node kinds, ",
                      spec[1].item<int64_t>(), " node features, ",
                      spec[2].item<int64_t>(), " global features, ",
                      spec[3].item<int64_t>(), " moves");
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
    torch::Tensor saved;
    archive.read("spec", saved);
    if (saved.sizes() != SpecTensor(spec).sizes() ||
        !saved.equal(SpecTensor(spec))) {
      return absl::InvalidArgumentError(
          absl::StrCat("weights are for ", Describe(saved), ", expected ",
                       Describe(SpecTensor(spec))));
    }
    auto model = std::make_unique<Model>(spec, 0);
    model->network_->load(archive);
    return model;
  } catch (const std::exception&) {
    // Torch's messages are stack traces.
    return absl::InvalidArgumentError(
        "not the weights of a policy, expected a file that `hone train` wrote");
  }
}

std::string Model::Serialize() const {
  torch::serialize::OutputArchive archive;
  archive.write("spec", SpecTensor(spec_));
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
