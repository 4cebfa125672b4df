#include "learning/models/frozen_model.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"

#include "learning/networks/move_network.h"

namespace hone::learning {
namespace {

// Encodings kept; one is about a kilobyte.
constexpr size_t kMaxKnown = 1 << 13;

}  // namespace

// The encodings of the graphs met.
class FrozenModel::Encoder {
 public:
  explicit Encoder(const Model& model) : model_(model) {}

  // [views, width]
  torch::Tensor Encode(absl::Span<const View* const> views) {
    absl::MutexLock lock(&mu_);
    if (known_.size() > kMaxKnown) known_.clear();
    std::vector<const space::Observation*> unknown;
    for (const View* view : views) {
      Known& known = known_[view->graph.get()];
      // Another graph may have come to lie where one was.
      if (known.graph.lock() == view->graph) continue;
      known.graph = view->graph;
      unknown.push_back(view->graph.get());
    }
    if (!unknown.empty()) {
      const torch::Tensor encoded =
          model_.network()
              ->Encode(MakeGraphBatch(unknown, model_.spec().observation))
              .graphs;
      for (size_t i = 0; i < unknown.size(); ++i) {
        const auto row = static_cast<int64_t>(i);
        known_[unknown[i]].encoding = encoded.narrow(0, row, 1).clone();
      }
    }
    std::vector<torch::Tensor> rows;
    for (const View* view : views) {
      rows.push_back(known_[view->graph.get()].encoding);
    }
    return torch::cat(rows, 0);
  }

 private:
  struct Known {
    std::weak_ptr<const space::Observation> graph;
    torch::Tensor encoding;  // [1, width]
  };

  const Model& model_;
  absl::Mutex mu_;
  absl::flat_hash_map<const space::Observation*, Known> known_
      ABSL_GUARDED_BY(mu_);
};

FrozenModel::FrozenModel(std::unique_ptr<const Model> model)
    : model_(std::move(model)), encoder_(std::make_unique<Encoder>(*model_)) {}

FrozenModel::~FrozenModel() = default;

std::vector<MoveScores> FrozenModel::Score(
    absl::Span<const View* const> views) const {
  // For a node in focus, the encodings of all nodes would have to be kept.
  const auto has_focus = [](const View* view) {
    return std::any_of(view->focus.begin(), view->focus.end(),
                       [](int32_t node) { return node >= 0; });
  };
  if (std::any_of(views.begin(), views.end(), has_focus)) {
    return model_->Score(views);
  }
  torch::InferenceMode inference;
  Encoding encoding;
  encoding.graphs = encoder_->Encode(views);
  encoding.nodes = torch::zeros({0, encoding.graphs.size(1)});
  std::vector<int32_t> graph_of_view(views.size());
  std::iota(graph_of_view.begin(), graph_of_view.end(), 0);
  return ReadScores(
      model_->network()->Decide(
          MakeViewBatch(views, graph_of_view, {}, model_->spec()), encoding),
      views);
}

}  // namespace hone::learning
