#include "learning/assignment_learner.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

#include "learning/advantage.h"
#include "learning/networks/descent.h"
#include "learning/networks/graph_batch.h"
#include "learning/networks/losses.h"
#include "learning/networks/minibatch.h"
#include "learning/networks/move_rows.h"
#include "learning/networks/tensors.h"
#include "learning/networks/value_network.h"
#include "learning/networks/value_rows.h"

namespace hone::learning {
namespace {

constexpr double kMaxGradientNorm = 0.5;
// Lessons that one step of the gradient descent is made from.
constexpr size_t kLessonsPerStep = 4;
// Differences of rewards that mean nothing.
constexpr float kLeastDeviation = 1e-4F;

// The decisions of one sample among some rows, as tensors.
struct Decisions {
  torch::Tensor rows;     // [K] int64
  torch::Tensor values;   // [K, 1] int64
  torch::Tensor allowed;  // [K, D] bool
  torch::Tensor before;   // [K]: log probabilities
  torch::Tensor changed;  // [K]: 1 where the value is a new one
};

class DecisionList {
 public:
  explicit DecisionList(int64_t domain) : domain_(domain) {}

  void Add(int64_t row, int32_t value, uint64_t choice, float log_probability,
           bool changed) {
    rows_.push_back(row);
    values_.push_back(value);
    before_.push_back(log_probability);
    changed_.push_back(changed ? 1.0F : 0.0F);
    for (int64_t d = 0; d < domain_; ++d) {
      allowed_.push_back(static_cast<uint8_t>(choice >> d & 1));
    }
  }

  bool empty() const { return rows_.empty(); }

  Decisions Tensors() const {
    const auto count = static_cast<int64_t>(rows_.size());
    return {torch::tensor(rows_, torch::kInt64),
            torch::tensor(values_, torch::kInt64).unsqueeze(1),
            torch::tensor(allowed_, torch::kUInt8)
                .view({count, domain_})
                .to(torch::kBool),
            torch::tensor(before_), torch::tensor(changed_)};
  }

 private:
  const int64_t domain_;
  std::vector<int64_t> rows_;
  std::vector<int64_t> values_;
  std::vector<uint8_t> allowed_;
  std::vector<float> before_;
  std::vector<float> changed_;
};

}  // namespace

class AssignmentLearner::Impl {
 public:
  Impl(AssignmentModel& model, const AssignmentPpoOptions& options,
       uint64_t seed)
      : model_(model),
        options_(options),
        descent_(model.network(), static_cast<double>(options.learning_rate),
                 kMaxGradientNorm, seed) {}

  AssignmentPpoStatistics Update(const ValueView& view,
                                 absl::Span<const int32_t> before, float keep,
                                 absl::Span<const AssignmentSample> samples,
                                 absl::Span<const float> rewards,
                                 float reward_before) {
    const std::vector<float> advantages =
        GroupAdvantages(rewards, kLeastDeviation);
    std::vector<bool> imitated;
    for (const float reward : rewards) {
      imitated.push_back(options_.imitation_weight > 0 &&
                         reward > reward_before + kLeastDeviation);
    }
    Count(before, samples, imitated);
    AssignmentPpoStatistics statistics;
    if (drawn_ == 0) return statistics;
    for (int32_t epoch = 0; epoch < options_.epochs; ++epoch) {
      statistics = {};
      Step(view, before, keep, samples, advantages, imitated, statistics);
    }
    return statistics;
  }

  double Imitate(absl::Span<const AssignmentLesson> lessons,
                 float learning_rate) {
    if (lessons.empty()) return 0;
    descent_.set_learning_rate(static_cast<double>(learning_rate));
    double sum = 0;
    for (const std::vector<size_t>& batch :
         Minibatches(lessons.size(), kLessonsPerStep, descent_.rng())) {
      for (const size_t i : batch) {
        sum +=
            AccumulateLesson(lessons[i], 1 / static_cast<double>(batch.size()));
      }
      descent_.Step();
    }
    descent_.set_learning_rate(static_cast<double>(options_.learning_rate));
    return sum / static_cast<double>(lessons.size());
  }

  double FitGains(const ValueView& view, absl::Span<const TriedMove> moves,
                  float learning_rate) {
    if (moves.empty()) return 0;
    std::vector<const DescribedMove*> pointers;
    std::vector<float> gains;
    for (const TriedMove& tried : moves) {
      pointers.push_back(&tried.move);
      gains.push_back(tried.gain);
    }
    const torch::Tensor scores = model_.network()->ScoreMoves(
        MakeMoveRows(view, pointers), EncodeForMoves(view));
    const torch::Tensor loss = torch::nn::functional::huber_loss(
        scores, Numbers(gains, {static_cast<int64_t>(gains.size())}));
    descent_.set_learning_rate(static_cast<double>(learning_rate));
    descent_.Accumulate(loss);
    descent_.Step();
    descent_.set_learning_rate(static_cast<double>(options_.learning_rate));
    return loss.item<double>();
  }

  AssignmentPpoStatistics UpdateMoves(const ValueView& view,
                                      absl::Span<const MoveChoice> choices) {
    AssignmentPpoStatistics statistics;
    if (choices.size() < 2) return statistics;
    std::vector<const DescribedMove*> pointers;
    std::vector<float> gains, before, estimates;
    std::vector<int32_t> chosen;
    size_t most = 0;
    for (const MoveChoice& choice : choices) {
      most = std::max(most, choice.moves.size());
    }
    // Where each move is in the table of choices.
    std::vector<int32_t> cells;
    std::vector<uint8_t> allowed(choices.size() * most);
    for (size_t c = 0; c < choices.size(); ++c) {
      for (size_t m = 0; m < choices[c].moves.size(); ++m) {
        pointers.push_back(&choices[c].moves[m]);
        estimates.push_back(choices[c].moves[m].estimate);
        cells.push_back(static_cast<int32_t>(c * most + m));
        allowed[c * most + m] = 1;
      }
      chosen.push_back(static_cast<int32_t>(choices[c].chosen));
      gains.push_back(choices[c].gain);
      before.push_back(choices[c].log_probability);
    }
    const auto rows = static_cast<int64_t>(choices.size());
    const auto columns = static_cast<int64_t>(most);
    const MoveRows moves = MakeMoveRows(view, pointers);
    const torch::Tensor at = Ids(cells, {static_cast<int64_t>(cells.size())});
    const torch::Tensor mask = torch::tensor(allowed, torch::kUInt8)
                                   .view({rows, columns})
                                   .to(torch::kBool);
    const torch::Tensor known = Numbers(estimates, {at.size(0)});
    const torch::Tensor advantages =
        Numbers(GroupAdvantages(gains, kLeastDeviation), {rows});
    for (int32_t epoch = 0; epoch < options_.epochs; ++epoch) {
      const torch::Tensor scores =
          torch::zeros({rows * columns})
              .index_add(
                  0, at,
                  model_.network()->ScoreMoves(moves, EncodeForMoves(view)) *
                          kMoveSharpness +
                      known)
              .view({rows, columns});
      const torch::Tensor log_probabilities = MaskedLogSoftmax(scores, mask);
      const torch::Tensor policy =
          PolicyLoss(
              log_probabilities.gather(1, Ids(chosen, {rows, 1})).squeeze(1),
              Numbers(before, {rows}), advantages,
              static_cast<double>(options_.clip))
              .mean();
      const torch::Tensor entropy = Entropy(log_probabilities).mean();
      descent_.Accumulate(policy - options_.entropy_weight * entropy);
      descent_.Step();
      statistics.policy_loss = policy.item<double>();
      statistics.entropy = entropy.item<double>();
    }
    return statistics;
  }

  Descent& descent() { return descent_; }

 private:
  ValueEncoding Encode(const ValueView& view) {
    const space::Observation* const graph = &view.graph();
    return model_.network()->Encode(
        MakeGraphBatch({&graph, 1}, model_.spec().observation));
  }

  // The encoding that moves are scored with, without a gradient if the encoder
  // stays as it is.
  ValueEncoding EncodeForMoves(const ValueView& view) {
    if (!options_.heads_only) return Encode(view);
    if (encoded_view_ != &view) {
      torch::NoGradGuard no_grad;
      encoded_ = Encode(view);
      encoded_view_ = &view;
    }
    return encoded_;
  }

  // Counts what the losses are means over.
  void Count(absl::Span<const int32_t> before,
             absl::Span<const AssignmentSample> samples,
             const std::vector<bool>& imitated) {
    drawn_ = changes_ = 0;
    for (size_t s = 0; s < samples.size(); ++s) {
      for (size_t v = 0; v < before.size(); ++v) {
        if (std::popcount(samples[s].choice[v]) < 2) continue;
        ++drawn_;
        if (imitated[s] && samples[s].values[v] != before[v]) ++changes_;
      }
    }
  }

  void Step(const ValueView& view, absl::Span<const int32_t> before, float keep,
            absl::Span<const AssignmentSample> samples,
            const std::vector<float>& advantages,
            const std::vector<bool>& imitated,
            AssignmentPpoStatistics& statistics) {
    Accumulate(view, before, keep,
               [&](const torch::Tensor& scores, int32_t first) {
                 torch::Tensor loss = torch::zeros({});
                 for (size_t s = 0; s < samples.size(); ++s) {
                   const AssignmentSample& sample = samples[s];
                   DecisionList list(scores.size(1));
                   for (int64_t r = 0; r < scores.size(0); ++r) {
                     const auto v = static_cast<size_t>(first + r);
                     if (std::popcount(sample.choice[v]) < 2) continue;
                     list.Add(r, sample.values[v], sample.choice[v],
                              sample.log_probability[v],
                              sample.values[v] != before[v]);
                   }
                   if (list.empty()) continue;
                   loss = loss + Loss(scores, list.Tensors(), advantages[s],
                                      imitated[s], statistics);
                 }
                 return loss;
               });
    descent_.Step();
  }

  // Adds the gradient of the losses that part_loss(scores, first) returns for
  // the scores [R, D] of the variables from `first` on.
  template <typename PartLoss>
  void Accumulate(const ValueView& view, absl::Span<const int32_t> before,
                  float keep, PartLoss part_loss) {
    const ValueEncoding encoding = Encode(view);
    // The heads run part by part; what they pass back to the encoder adds up.
    ValueEncoding leaf = {{}, encoding.graphs.detach().requires_grad_()};
    for (const torch::Tensor& nodes : encoding.nodes) {
      leaf.nodes.push_back(nodes.detach().requires_grad_());
    }
    ForValueRows(view, before, [&](const ValueRows& rows, int32_t first) {
      const auto count = rows.nodes.size(0);
      const auto domain = rows.value_features.size(0);
      torch::Tensor scores = model_.network()->Score(rows, leaf);
      if (keep != 0) {
        std::vector<float> kept(static_cast<size_t>(count * domain));
        for (int64_t r = 0; r < count; ++r) {
          kept[static_cast<size_t>(
              r * domain + before[static_cast<size_t>(first + r)])] = keep;
        }
        scores = scores + Numbers(kept, {count, domain});
      }
      const torch::Tensor loss = part_loss(scores, first);
      if (loss.requires_grad()) loss.backward();
    });
    std::vector<torch::Tensor> outputs, gradients;
    const auto add = [&](const torch::Tensor& output, const torch::Tensor& at) {
      if (!at.grad().defined()) return;
      outputs.push_back(output);
      gradients.push_back(at.grad());
    };
    add(encoding.graphs, leaf.graphs);
    for (size_t g = 0; g < leaf.nodes.size(); ++g) {
      add(encoding.nodes[g], leaf.nodes[g]);
    }
    if (!outputs.empty()) torch::autograd::backward(outputs, gradients);
  }

  // Adds the gradient of a lesson's mean cross entropy, which it returns,
  // `weight` times.
  double AccumulateLesson(const AssignmentLesson& lesson, double weight) {
    int64_t count = 0;
    for (const uint64_t choice : lesson.choice) {
      count += std::popcount(choice) < 2 ? 0 : 1;
    }
    double mean = 0;
    Accumulate(*lesson.view, lesson.before, 0,
               [&](const torch::Tensor& scores, int32_t first) {
                 DecisionList list(scores.size(1));
                 for (int64_t r = 0; r < scores.size(0); ++r) {
                   const auto v = static_cast<size_t>(first + r);
                   if (std::popcount(lesson.choice[v]) < 2) continue;
                   list.Add(r, lesson.values[v], lesson.choice[v], 0, false);
                 }
                 if (list.empty()) return torch::zeros({});
                 const Decisions decisions = list.Tensors();
                 const torch::Tensor loss =
                     -MaskedLogSoftmax(scores.index_select(0, decisions.rows),
                                       decisions.allowed)
                          .gather(1, decisions.values)
                          .sum() /
                     static_cast<double>(count);
                 mean += loss.item<double>();
                 return loss * weight;
               });
    return mean;
  }

  torch::Tensor Loss(const torch::Tensor& scores, const Decisions& decisions,
                     float advantage, bool imitated,
                     AssignmentPpoStatistics& statistics) const {
    const torch::Tensor log_probabilities = MaskedLogSoftmax(
        scores.index_select(0, decisions.rows), decisions.allowed);
    const torch::Tensor chosen =
        log_probabilities.gather(1, decisions.values).squeeze(1);
    const auto drawn = static_cast<double>(drawn_);
    const torch::Tensor policy = PolicyLoss(chosen, decisions.before,
                                            torch::full_like(chosen, advantage),
                                            static_cast<double>(options_.clip))
                                     .sum() /
                                 drawn;
    const torch::Tensor entropy = Entropy(log_probabilities).sum() / drawn;
    statistics.policy_loss += policy.item<double>();
    statistics.entropy += entropy.item<double>();
    torch::Tensor loss = policy - options_.entropy_weight * entropy;
    if (imitated && changes_ > 0) {
      const torch::Tensor imitation =
          -(chosen * decisions.changed).sum() / static_cast<double>(changes_);
      statistics.imitation_loss += imitation.item<double>();
      loss = loss + options_.imitation_weight * imitation;
    }
    return loss;
  }

  AssignmentModel& model_;
  const AssignmentPpoOptions options_;
  Descent descent_;
  // With heads_only: the last graph, encoded.
  const ValueView* encoded_view_ = nullptr;
  ValueEncoding encoded_;
  int64_t drawn_ = 0;    // variables that samples drew
  int64_t changes_ = 0;  // those to imitate
};

AssignmentLearner::AssignmentLearner(AssignmentModel& model,
                                     const AssignmentPpoOptions& options,
                                     uint64_t seed)
    : impl_(std::make_unique<Impl>(model, options, seed)) {}

AssignmentLearner::~AssignmentLearner() = default;

AssignmentPpoStatistics AssignmentLearner::Update(
    const ValueView& view, absl::Span<const int32_t> before, float keep,
    absl::Span<const AssignmentSample> samples, absl::Span<const float> rewards,
    float reward_before) {
  return impl_->Update(view, before, keep, samples, rewards, reward_before);
}

double AssignmentLearner::Imitate(absl::Span<const AssignmentLesson> lessons,
                                  float learning_rate) {
  return impl_->Imitate(lessons, learning_rate);
}

double AssignmentLearner::FitGains(const ValueView& view,
                                   absl::Span<const TriedMove> moves,
                                   float learning_rate) {
  return impl_->FitGains(view, moves, learning_rate);
}

AssignmentPpoStatistics AssignmentLearner::UpdateMoves(
    const ValueView& view, absl::Span<const MoveChoice> choices) {
  return impl_->UpdateMoves(view, choices);
}

std::string AssignmentLearner::SerializeDescent() const {
  return impl_->descent().Serialize();
}

absl::Status AssignmentLearner::ParseDescent(absl::string_view bytes) {
  return impl_->descent().Parse(bytes);
}

}  // namespace hone::learning
