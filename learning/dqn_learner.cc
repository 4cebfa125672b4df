#include "learning/dqn_learner.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "learning/networks/descent.h"
#include "learning/networks/losses.h"
#include "learning/networks/minibatch.h"
#include "learning/networks/move_network.h"
#include "learning/replay.h"

namespace hone::learning {
namespace {

constexpr double kMaxGradientNorm = 5.0;
// The size of an error from which on it counts linearly.
constexpr double kHuberUnit = 0.1;

}  // namespace

class DqnLearner::Impl {
 public:
  Impl(Model& model, const DqnOptions& options, uint64_t seed)
      : model_(model),
        target_(model.spec(), model.options(), seed),
        options_(options),
        descent_(model.network(), static_cast<double>(options.learning_rate),
                 kMaxGradientNorm, seed),
        replay_(options.replay_capacity, options.lookahead, options.discount) {
    target_.CopyWeights(model_);
  }

  void Remember(const Trajectory& episode) { replay_.Remember(episode); }

  double Update(int32_t steps) {
    if (replay_.size() == 0) return 0;
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
  // The values that the transitions bootstrap from; 0 where the game is over.
  torch::Tensor NextValues(const std::vector<const Transition*>& batch) const {
    torch::NoGradGuard no_grad;
    torch::Tensor values = torch::zeros({static_cast<int64_t>(batch.size())});
    std::vector<const View*> next;
    std::vector<int64_t> rows;
    for (size_t i = 0; i < batch.size(); ++i) {
      if (batch[i]->next == nullptr) continue;
      next.push_back(batch[i]->next.get());
      rows.push_back(static_cast<int64_t>(i));
    }
    if (next.empty()) return values;
    const Batch views = MakeBatch(next, model_.spec());
    return values.index_copy(
        0, torch::tensor(rows, torch::kInt64),
        DoubleQValues(model_.network()->forward(views).scores,
                      target_.network()->forward(views).scores));
  }

  double Step() {
    std::vector<const Transition*> batch;
    std::vector<const View*> views;
    for (int32_t i = 0; i < options_.batch_size; ++i) {
      batch.push_back(&replay_.Draw(descent_.rng()));
      views.push_back(batch.back()->view.get());
    }
    std::vector<size_t> all(batch.size());
    std::iota(all.begin(), all.end(), size_t{0});
    const torch::Tensor values =
        model_.network()
            ->forward(MakeBatch(views, model_.spec()))
            .scores
            .gather(
                1, IndexColumn(all, [&](size_t i) { return batch[i]->chosen; }))
            .squeeze(1);
    const torch::Tensor loss =
        QLoss(values, Column(all, [&](size_t i) { return batch[i]->reward; }),
              Column(all, [&](size_t i) { return batch[i]->discount; }),
              NextValues(batch), kHuberUnit)
            .mean();
    descent_.Accumulate(loss);
    descent_.Step();
    return loss.item<double>();
  }

  Model& model_;
  Model target_;
  const DqnOptions options_;
  Descent descent_;
  Replay replay_;
  int64_t steps_ = 0;
};

DqnLearner::DqnLearner(Model& model, const DqnOptions& options, uint64_t seed)
    : impl_(std::make_unique<Impl>(model, options, seed)) {}

DqnLearner::~DqnLearner() = default;

void DqnLearner::Remember(const Trajectory& episode) {
  impl_->Remember(episode);
}

double DqnLearner::Update(int32_t steps) { return impl_->Update(steps); }

}  // namespace hone::learning
