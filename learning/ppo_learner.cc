#include "learning/ppo_learner.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "learning/advantage.h"
#include "learning/networks/descent.h"
#include "learning/networks/losses.h"
#include "learning/networks/minibatch.h"
#include "learning/networks/move_network.h"

namespace hone::learning {
namespace {

constexpr double kMaxGradientNorm = 0.5;
// Differences of an episode's total reward that mean nothing.
constexpr float kLeastDeviation = 0.005F;
// The unit in which a network predicts rewards, and the temperature of the
// choice that labels teach: two moves differ by a factor e in probability if
// their rewards do by so much.
constexpr float kRewardUnit = 0.02F;
constexpr float kChoiceTemperature = 0.005F;

// A turn with what it turned out to be worth.
struct Sample {
  const Turn* turn;
  float advantage;
  float value_target;
};

std::vector<Sample> Samples(absl::Span<const TrajectoryGroup> groups,
                            const PpoOptions& options) {
  std::vector<Sample> samples;
  std::vector<float> estimates;
  std::vector<float> relative;  // of the whole episode, by turn
  for (const TrajectoryGroup& group : groups) {
    std::vector<float> totals;
    for (const Trajectory& episode : group) {
      totals.push_back(static_cast<float>(episode.TotalReward()));
    }
    const std::vector<float> of_group =
        GroupAdvantages(totals, kLeastDeviation);
    for (size_t e = 0; e < group.size(); ++e) {
      std::vector<float> rewards, values;
      for (const Turn& turn : group[e].turns) {
        rewards.push_back(turn.reward);
        values.push_back(turn.value);
      }
      const Advantages advantages =
          GeneralizedAdvantages(rewards, values, group[e].value_after,
                                options.discount, options.trace);
      for (size_t t = 0; t < rewards.size(); ++t) {
        samples.push_back({&group[e].turns[t], 0, advantages.returns[t]});
        estimates.push_back(advantages.advantages[t]);
        relative.push_back(of_group[e]);
      }
    }
  }
  ScaleToUnit(estimates, kLeastDeviation);
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i].advantage = estimates[i] + options.group_weight * relative[i];
  }
  return samples;
}

// Calls body(part, output) with the network's output for parts of `indices`
// that fit in memory; view(i) is that of index i.
template <typename V, typename B>
void ForParts(Model& model, absl::Span<const size_t> indices, V view, B body) {
  std::vector<const View*> views;
  views.reserve(indices.size());
  for (const size_t index : indices) views.push_back(view(index));
  for (const std::vector<size_t>& rows : MemoryParts(views)) {
    std::vector<size_t> part;
    std::vector<const View*> part_views;
    for (const size_t row : rows) {
      part.push_back(indices[row]);
      part_views.push_back(views[row]);
    }
    body(part, model.network()->forward(MakeBatch(part_views, model.spec())));
  }
}

}  // namespace

class PpoLearner::Impl {
 public:
  Impl(Model& model, const PpoOptions& options, uint64_t seed)
      : model_(model),
        options_(options),
        descent_(model.network(), static_cast<double>(options.learning_rate),
                 kMaxGradientNorm, seed) {}

  PpoStatistics Update(absl::Span<const TrajectoryGroup> groups,
                       absl::Span<const Turn> elites) {
    PpoStatistics statistics;
    size_t episodes = 0;
    for (const TrajectoryGroup& group : groups) {
      for (const Trajectory& episode : group) {
        statistics.mean_reward += episode.TotalReward();
        ++episodes;
      }
    }
    statistics.mean_reward /=
        static_cast<double>(std::max<size_t>(episodes, 1));
    const std::vector<Sample> samples = Samples(groups, options_);
    if (samples.empty()) return statistics;
    if (options_.imitation_weight <= 0) elites = {};
    for (int32_t epoch = 0; epoch < options_.epochs; ++epoch) {
      PpoStatistics sums;
      const auto batches =
          Minibatches(samples.size(), static_cast<size_t>(options_.minibatch),
                      descent_.rng());
      for (const std::vector<size_t>& batch : batches) {
        AccumulatePolicy(samples, batch, sums);
        if (!elites.empty()) {
          sums.imitation_loss += AccumulateImitation(
              elites, DrawElites(elites.size()), options_.imitation_weight);
        }
        descent_.Step();
      }
      const auto turns = static_cast<double>(samples.size());
      statistics.entropy = sums.entropy / turns;
      statistics.policy_loss = sums.policy_loss / turns;
      statistics.value_loss = sums.value_loss / turns;
      statistics.divergence = sums.divergence / turns;
      statistics.imitation_loss =
          sums.imitation_loss / static_cast<double>(batches.size());
      if (statistics.divergence > static_cast<double>(options_.max_divergence))
        break;
    }
    return statistics;
  }

  double Imitate(absl::Span<const Turn> turns, float learning_rate) {
    if (turns.empty()) return 0;
    descent_.set_learning_rate(static_cast<double>(learning_rate));
    double sum = 0;
    for (const std::vector<size_t>& batch :
         Minibatches(turns.size(), static_cast<size_t>(options_.minibatch),
                     descent_.rng())) {
      sum += AccumulateImitation(turns, batch, 1) *
             static_cast<double>(batch.size());
      descent_.Step();
    }
    descent_.set_learning_rate(static_cast<double>(options_.learning_rate));
    return sum / static_cast<double>(turns.size());
  }

  LabelStatistics LearnLabels(absl::Span<const MoveLabels> labels,
                              float choice_weight, float learning_rate) {
    LabelStatistics sums;
    if (labels.empty()) return sums;
    descent_.set_learning_rate(static_cast<double>(learning_rate));
    for (const std::vector<size_t>& batch :
         Minibatches(labels.size(), static_cast<size_t>(options_.minibatch),
                     descent_.rng())) {
      AccumulateLabels(labels, batch, choice_weight, sums);
      descent_.Step();
    }
    descent_.set_learning_rate(static_cast<double>(options_.learning_rate));
    const auto count = static_cast<double>(labels.size());
    return {sums.change_loss / count, sums.reward_loss / count,
            sums.choice_loss / count};
  }

  Descent& descent() { return descent_; }

 private:
  // A quarter as many as there are turns in a minibatch.
  std::vector<size_t> DrawElites(size_t count) {
    const size_t wanted = std::min(
        count,
        std::max<size_t>(static_cast<size_t>(options_.minibatch) / 4, 1));
    std::vector<size_t> drawn;
    for (size_t i = 0; i < wanted; ++i) {
      drawn.push_back(descent_.rng().Below(count));
    }
    return drawn;
  }

  // Adds the gradient of a minibatch's mean loss.
  void AccumulatePolicy(const std::vector<Sample>& samples,
                        const std::vector<size_t>& batch, PpoStatistics& sums) {
    const auto size = static_cast<double>(batch.size());
    ForParts(
        model_, batch, [&](size_t i) { return samples[i].turn->view.get(); },
        [&](const std::vector<size_t>& part, const MoveOutput& output) {
          const torch::Tensor log_probabilities =
              torch::log_softmax(output.scores, 1);
          const torch::Tensor chosen =
              log_probabilities
                  .gather(1, IndexColumn(part,
                                         [&](size_t i) {
                                           return samples[i].turn->chosen;
                                         }))
                  .squeeze(1);
          const torch::Tensor before = Column(
              part, [&](size_t i) { return samples[i].turn->log_probability; });
          const torch::Tensor policy =
              PolicyLoss(
                  chosen, before,
                  Column(part, [&](size_t i) { return samples[i].advantage; }),
                  static_cast<double>(options_.clip))
                  .sum();
          const torch::Tensor value =
              (output.values -
               Column(part, [&](size_t i) { return samples[i].value_target; }))
                  .square()
                  .sum();
          const torch::Tensor entropy = Entropy(log_probabilities).sum();
          descent_.Accumulate((policy + options_.value_weight * value -
                               options_.entropy_weight * entropy) /
                              size);
          sums.policy_loss += policy.item<double>();
          sums.value_loss += value.item<double>();
          sums.entropy += entropy.item<double>();
          sums.divergence += (before - chosen).sum().item<double>();
        });
  }

  // Adds the gradient of the mean cross entropy of these turns, `weight` times.
  // Returns that mean.
  double AccumulateImitation(absl::Span<const Turn> turns,
                             const std::vector<size_t>& batch, float weight) {
    const auto size = static_cast<double>(batch.size());
    double mean = 0;
    ForParts(
        model_, batch, [&](size_t i) { return turns[i].view.get(); },
        [&](const std::vector<size_t>& part, const MoveOutput& output) {
          const torch::Tensor loss =
              -torch::log_softmax(output.scores, 1)
                   .gather(1,
                           IndexColumn(
                               part, [&](size_t i) { return turns[i].chosen; }))
                   .sum() /
              size;
          descent_.Accumulate(loss * weight);
          mean += loss.item<double>();
        });
    return mean;
  }

  void AccumulateLabels(absl::Span<const MoveLabels> labels,
                        const std::vector<size_t>& batch, float choice_weight,
                        LabelStatistics& sums) {
    const auto size = static_cast<double>(batch.size());
    ForParts(
        model_, batch, [&](size_t i) { return labels[i].view.get(); },
        [&](const std::vector<size_t>& part, const MoveOutput& output) {
          const int64_t moves = output.scores.size(1);
          const auto rows = static_cast<int64_t>(part.size());
          torch::Tensor known = torch::zeros({rows, moves});
          torch::Tensor changes = torch::zeros({rows, moves});
          torch::Tensor rewards = torch::zeros({rows, moves});
          torch::Tensor compared = torch::isfinite(output.scores);
          auto is_known = known.accessor<float, 2>();
          auto is_change = changes.accessor<float, 2>();
          auto reward_of = rewards.accessor<float, 2>();
          for (int64_t r = 0; r < rows; ++r) {
            const MoveLabels& label = labels[part[static_cast<size_t>(r)]];
            const bool is_partial = !label.tried.empty();
            for (size_t m = 0; m < label.changes.size(); ++m) {
              if (is_partial && !label.tried[m]) continue;
              const auto c = static_cast<int64_t>(m);
              is_known[r][c] = 1;
              is_change[r][c] = label.changes[m] ? 1 : 0;
              reward_of[r][c] = label.rewards[m];
            }
            if (is_partial) compared[r] = known[r] > 0;
          }
          const torch::Tensor tried = known.sum(1, true).clamp_min(1);
          const torch::Tensor change =
              (torch::binary_cross_entropy_with_logits(
                   output.effects.select(2, 0), changes, {}, {},
                   at::Reduction::None) *
               known / tried)
                  .sum();
          const torch::Tensor reward =
              (torch::smooth_l1_loss(output.effects.select(2, 1),
                                     rewards / kRewardUnit, at::Reduction::None,
                                     /*beta=*/1.0) *
               changes / changes.sum(1, true).clamp_min(1))
                  .sum();
          // To stop counts as a move that changes nothing, where it is
          // compared; those that do nothing are worse.
          const torch::Tensor choice = ChoiceLoss(output.scores,
                                                  rewards / kChoiceTemperature -
                                                      2 * known * (1 - changes),
                                                  compared)
                                           .sum();
          descent_.Accumulate((change + reward + choice_weight * choice) /
                              size);
          sums.change_loss += change.item<double>();
          sums.reward_loss += reward.item<double>();
          sums.choice_loss += choice.item<double>();
        });
  }

  Model& model_;
  const PpoOptions options_;
  Descent descent_;
};

PpoLearner::PpoLearner(Model& model, const PpoOptions& options, uint64_t seed)
    : impl_(std::make_unique<Impl>(model, options, seed)) {}

PpoLearner::~PpoLearner() = default;

PpoStatistics PpoLearner::Update(absl::Span<const TrajectoryGroup> groups,
                                 absl::Span<const Turn> elites) {
  return impl_->Update(groups, elites);
}

double PpoLearner::Imitate(absl::Span<const Turn> turns, float learning_rate) {
  return impl_->Imitate(turns, learning_rate);
}

LabelStatistics PpoLearner::LearnLabels(absl::Span<const MoveLabels> labels,
                                        float choice_weight,
                                        float learning_rate) {
  return impl_->LearnLabels(labels, choice_weight, learning_rate);
}

std::string PpoLearner::SerializeDescent() const {
  return impl_->descent().Serialize();
}

absl::Status PpoLearner::ParseDescent(absl::string_view bytes) {
  return impl_->descent().Parse(bytes);
}

}  // namespace hone::learning
