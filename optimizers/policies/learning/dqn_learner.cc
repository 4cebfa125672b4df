#include "optimizers/policies/learning/dqn_learner.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "optimizers/policies/model/network.h"

namespace hone::optimizers::policies {
namespace {

constexpr double kMaxGradientNorm = 5.0;

// A turn, what it and the turns after it earned, and where they led.
struct Transition {
  std::shared_ptr<const View> view;
  int32_t chosen = 0;
  float reward = 0;
  // Null when the game was over.
  std::shared_ptr<const View> next;
};

}  // namespace

class DqnLearner::Impl {
 public:
  Impl(Model& model, const DqnOptions& options, uint64_t seed)
      : model_(model),
        network_(model.network()),
        target_(model.spec(), seed),
        options_(options),
        optimizer_(network_->parameters(),
                   torch::optim::AdamOptions(options.learning_rate)),
        rng_(seed) {
    target_.CopyWeights(model_);
  }

  void Remember(const Trajectory& episode) {
    const std::vector<Turn>& turns = episode.turns;
    const auto lookahead = static_cast<size_t>(options_.lookahead);
    for (size_t t = 0; t < turns.size(); ++t) {
      Transition transition{turns[t].view, turns[t].chosen, 0, nullptr};
      const size_t end = std::min(t + lookahead, turns.size());
      for (size_t i = t; i < end; ++i) transition.reward += turns[i].reward;
      if (end < turns.size()) transition.next = turns[end].view;
      replay_.push_back(std::move(transition));
    }
    while (replay_.size() > options_.replay_capacity) replay_.pop_front();
  }

  double Update(int32_t steps) {
    if (replay_.empty()) return 0;
    double sum = 0;
    for (int32_t step = 0; step < steps; ++step) {
      sum += Step();
      if (++steps_ % options_.target_interval == 0) {
        target_.CopyWeights(model_);
      }
    }
    return sum / std::max(steps, 1);
  }

 private:
  // reward + Q_target(next, argmax Q(next, ·)), or the reward at the end.
  torch::Tensor Targets(const std::vector<const Transition*>& batch) const {
    std::vector<const View*> next;
    for (const Transition* transition : batch) {
      if (transition->next) next.push_back(transition->next.get());
    }
    std::vector<MoveScores> online, target;
    if (!next.empty()) {
      online = model_.Score(next);
      target = target_.Score(next);
    }
    torch::Tensor targets = torch::empty({static_cast<int64_t>(batch.size())});
    auto out = targets.accessor<float, 1>();
    size_t n = 0;
    for (size_t i = 0; i < batch.size(); ++i) {
      float value = batch[i]->reward;
      if (batch[i]->next) {
        const auto best = ChooseBest(*batch[i]->next, online[n]);
        value += target[n].scores[static_cast<size_t>(best)];
        ++n;
      }
      out[static_cast<int64_t>(i)] = value;
    }
    return targets;
  }

  double Step() {
    std::vector<const Transition*> batch;
    std::vector<const View*> views;
    torch::Tensor chosen =
        torch::empty({options_.batch_size, 1}, torch::kInt64);
    for (int32_t i = 0; i < options_.batch_size; ++i) {
      batch.push_back(&replay_[rng_.Below(replay_.size())]);
      views.push_back(batch.back()->view.get());
      chosen[i][0] = batch.back()->chosen;
    }
    const torch::Tensor targets = Targets(batch);
    const torch::Tensor values =
        network_->forward(MakeBatch(views, model_.spec()))
            .scores.gather(1, chosen)
            .squeeze(1);
    const torch::Tensor loss = torch::smooth_l1_loss(
        values, targets, at::Reduction::Mean, /*beta=*/0.1);
    optimizer_.zero_grad();
    loss.backward();
    torch::nn::utils::clip_grad_norm_(network_->parameters(), kMaxGradientNorm);
    optimizer_.step();
    return loss.item<double>();
  }

  Model& model_;
  const std::shared_ptr<NetworkImpl> network_;
  Model target_;
  const DqnOptions options_;
  torch::optim::Adam optimizer_;
  Rng rng_;
  std::deque<Transition> replay_;
  int64_t steps_ = 0;
};

DqnLearner::DqnLearner(Model& model, const DqnOptions& options, uint64_t seed)
    : impl_(std::make_unique<Impl>(model, options, seed)) {}

DqnLearner::~DqnLearner() = default;

void DqnLearner::Remember(const Trajectory& episode) {
  impl_->Remember(episode);
}

double DqnLearner::Update(int32_t steps) { return impl_->Update(steps); }

}  // namespace hone::optimizers::policies
