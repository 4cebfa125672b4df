#include "optimizers/policies/learning/ppo_learner.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <utility>

#include "absl/container/flat_hash_map.h"

#include "optimizers/policies/model/network.h"

namespace hone::optimizers::policies {
namespace {

constexpr float kDiscountedTrace = 0.95F;  // lambda; rewards are not discounted
constexpr double kMaxGradientNorm = 1.0;
// Nodes of distinct graphs that one gradient step sees, for memory's sake.
constexpr size_t kNodesPerStep = 12000;
constexpr size_t kTurnsPerStep = 64;

// A turn with what it turned out to be worth.
struct Sample {
  const Turn* turn;
  float advantage;
  float value_target;
};

void Standardize(std::vector<float>& values) {
  const auto n = static_cast<float>(values.size());
  const float mean = std::accumulate(values.begin(), values.end(), 0.0F) / n;
  float square = 0;
  for (float value : values) square += (value - mean) * (value - mean);
  const float deviation = std::sqrt(square / n) + 1e-6F;
  for (float& value : values) value = (value - mean) / deviation;
}

std::vector<Sample> Samples(absl::Span<const TrajectoryGroup> groups) {
  std::vector<Sample> samples;
  std::vector<float> estimates;  // generalized advantages
  std::vector<float> relative;   // of the whole episode, by turn
  for (const TrajectoryGroup& group : groups) {
    std::vector<float> totals;
    for (const Trajectory& episode : group) {
      totals.push_back(static_cast<float>(episode.TotalReward()));
    }
    if (!totals.empty()) Standardize(totals);
    for (size_t e = 0; e < group.size(); ++e) {
      const std::vector<Turn>& turns = group[e].turns;
      const size_t first = samples.size();
      samples.resize(first + turns.size());
      estimates.resize(samples.size());
      relative.resize(samples.size(), totals[e]);
      float advantage = 0;
      float next_value = 0;
      for (size_t t = turns.size(); t-- > 0;) {
        const float surprise = turns[t].reward + next_value - turns[t].value;
        advantage = surprise + kDiscountedTrace * advantage;
        estimates[first + t] = advantage;
        samples[first + t] = {&turns[t], 0, advantage + turns[t].value};
        next_value = turns[t].value;
      }
    }
  }
  if (samples.empty()) return samples;
  Standardize(estimates);
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i].advantage = estimates[i] + relative[i];
  }
  return samples;
}

// Cuts a random order of the turns into pieces that fit in memory. Turns of one
// state share its graph when they meet in a piece, so states stay together.
template <typename T>
std::vector<std::vector<T>> Pieces(std::vector<T> items, Rng& rng) {
  std::shuffle(items.begin(), items.end(), rng);
  std::vector<const space::Observation*> order;
  order.reserve(items.size());
  for (const T& item : items) order.push_back(item.turn->view->graph.get());
  std::vector<size_t> rank(items.size());
  absl::flat_hash_map<const space::Observation*, size_t> first_seen;
  for (size_t i = 0; i < items.size(); ++i) {
    rank[i] = first_seen.try_emplace(order[i], i).first->second;
  }
  std::vector<size_t> indices(items.size());
  std::iota(indices.begin(), indices.end(), size_t{0});
  std::stable_sort(indices.begin(), indices.end(),
                   [&](size_t a, size_t b) { return rank[a] < rank[b]; });
  std::vector<std::vector<T>> pieces;
  size_t nodes = 0;
  const space::Observation* last = nullptr;
  for (size_t index : indices) {
    const space::Observation* graph = order[index];
    const size_t added = graph == last ? 0 : graph->node_kinds.size();
    if (pieces.empty() || nodes + added > kNodesPerStep ||
        pieces.back().size() >= kTurnsPerStep) {
      pieces.emplace_back();
      nodes = graph->node_kinds.size();
    } else {
      nodes += added;
    }
    last = graph;
    pieces.back().push_back(items[index]);
  }
  return pieces;
}

template <typename T>
std::vector<const View*> ViewsOf(const std::vector<T>& items) {
  std::vector<const View*> views;
  views.reserve(items.size());
  for (const T& item : items) views.push_back(item.turn->view.get());
  return views;
}

template <typename T, typename F>
torch::Tensor Column(const std::vector<T>& items, F get) {
  torch::Tensor column =
      torch::empty({static_cast<int64_t>(items.size())}, torch::kFloat32);
  auto out = column.accessor<float, 1>();
  for (size_t i = 0; i < items.size(); ++i) {
    out[static_cast<int64_t>(i)] = get(items[i]);
  }
  return column;
}

template <typename T>
torch::Tensor ChosenOf(const std::vector<T>& items) {
  torch::Tensor chosen =
      torch::empty({static_cast<int64_t>(items.size()), 1}, torch::kInt64);
  auto out = chosen.accessor<int64_t, 2>();
  for (size_t i = 0; i < items.size(); ++i) {
    out[static_cast<int64_t>(i)][0] = items[i].turn->chosen;
  }
  return chosen;
}

struct EliteTurn {
  const Turn* turn;
};

}  // namespace

class PpoLearner::Impl {
 public:
  Impl(Model& model, const PpoOptions& options, uint64_t seed)
      : model_(model),
        network_(model.network()),
        options_(options),
        optimizer_(network_->parameters(),
                   torch::optim::AdamOptions(options.learning_rate)),
        rng_(seed) {}

  PpoStatistics Update(absl::Span<const TrajectoryGroup> groups,
                       absl::Span<const Turn* const> elites) {
    PpoStatistics statistics;
    int64_t episodes = 0;
    for (const TrajectoryGroup& group : groups) {
      for (const Trajectory& episode : group) {
        statistics.mean_reward += episode.TotalReward();
        ++episodes;
      }
    }
    if (episodes > 0) statistics.mean_reward /= static_cast<double>(episodes);
    const std::vector<Sample> samples = Samples(groups);
    for (int32_t epoch = 0; epoch < options_.epochs; ++epoch) {
      PpoStatistics sums;
      const auto pieces = Pieces(samples, rng_);
      for (const std::vector<Sample>& piece : pieces) Step(piece, sums);
      const auto steps =
          static_cast<double>(std::max<size_t>(pieces.size(), 1));
      statistics.entropy = sums.entropy / steps;
      statistics.policy_loss = sums.policy_loss / steps;
      statistics.value_loss = sums.value_loss / steps;
    }
    if (!elites.empty() && options_.imitation_weight > 0) {
      statistics.imitation_loss = ImitateAll(elites, options_.imitation_weight);
    }
    return statistics;
  }

  // The mean loss; `weight` scales the gradient.
  double ImitateAll(absl::Span<const Turn* const> turns, float weight) {
    std::vector<EliteTurn> items;
    for (const Turn* turn : turns) items.push_back({turn});
    double sum = 0;
    for (const std::vector<EliteTurn>& piece : Pieces(items, rng_)) {
      const NetworkOutput output =
          network_->forward(MakeBatch(ViewsOf(piece), model_.spec()));
      const torch::Tensor loss = -torch::log_softmax(output.scores, 1)
                                      .gather(1, ChosenOf(piece))
                                      .mean();
      Descend(loss * weight);
      sum += loss.item<double>() * static_cast<double>(piece.size());
    }
    return sum / static_cast<double>(std::max<size_t>(turns.size(), 1));
  }

  double Imitate(absl::Span<const Turn* const> turns, float learning_rate) {
    SetLearningRate(learning_rate);
    const double loss = ImitateAll(turns, 1);
    SetLearningRate(options_.learning_rate);
    return loss;
  }

  torch::optim::Adam& optimizer() { return optimizer_; }
  Rng& rng() { return rng_; }

 private:
  void Step(const std::vector<Sample>& piece, PpoStatistics& sums) {
    const NetworkOutput output =
        network_->forward(MakeBatch(ViewsOf(piece), model_.spec()));
    const torch::Tensor log_probabilities =
        torch::log_softmax(output.scores, 1);
    const torch::Tensor chosen =
        log_probabilities.gather(1, ChosenOf(piece)).squeeze(1);
    const torch::Tensor before =
        Column(piece, [](const Sample& s) { return s.turn->log_probability; });
    const torch::Tensor advantage =
        Column(piece, [](const Sample& s) { return s.advantage; });
    const torch::Tensor target =
        Column(piece, [](const Sample& s) { return s.value_target; });
    const torch::Tensor ratio = torch::exp(chosen - before);
    const torch::Tensor policy_loss =
        -torch::min(
             ratio * advantage,
             ratio.clamp(1 - options_.clip, 1 + options_.clip) * advantage)
             .mean();
    const torch::Tensor value_loss = (output.values - target).square().mean();
    // 0 · -inf is not a number where there is no move.
    const torch::Tensor entropy =
        -(log_probabilities.exp() * log_probabilities.clamp_min(-30))
             .sum(1)
             .mean();
    Descend(policy_loss + options_.value_weight * value_loss -
            options_.entropy_weight * entropy);
    sums.entropy += entropy.item<double>();
    sums.policy_loss += policy_loss.item<double>();
    sums.value_loss += value_loss.item<double>();
  }

  void SetLearningRate(float rate) {
    for (torch::optim::OptimizerParamGroup& group : optimizer_.param_groups()) {
      group.options().set_lr(static_cast<double>(rate));
    }
  }

  void Descend(const torch::Tensor& loss) {
    optimizer_.zero_grad();
    loss.backward();
    torch::nn::utils::clip_grad_norm_(network_->parameters(), kMaxGradientNorm);
    optimizer_.step();
  }

  Model& model_;
  const std::shared_ptr<NetworkImpl> network_;
  const PpoOptions options_;
  torch::optim::Adam optimizer_;
  Rng rng_;
};

PpoLearner::PpoLearner(Model& model, const PpoOptions& options, uint64_t seed)
    : impl_(std::make_unique<Impl>(model, options, seed)) {}

PpoLearner::~PpoLearner() = default;

PpoStatistics PpoLearner::Update(absl::Span<const TrajectoryGroup> groups,
                                 absl::Span<const Turn* const> elites) {
  return impl_->Update(groups, elites);
}

double PpoLearner::Imitate(absl::Span<const Turn* const> turns,
                           float learning_rate) {
  return impl_->Imitate(turns, learning_rate);
}

std::string PpoLearner::SerializeOptimizer() const {
  torch::serialize::OutputArchive archive;
  impl_->optimizer().save(archive);
  torch::Tensor rng = torch::empty({4}, torch::kInt64);
  for (int64_t i = 0; i < 4; ++i) {
    rng[i] = static_cast<int64_t>(impl_->rng().state()[static_cast<size_t>(i)]);
  }
  archive.write("rng", rng);
  std::ostringstream out;
  archive.save_to(out);
  return std::move(out).str();
}

absl::Status PpoLearner::ParseOptimizer(absl::string_view bytes) {
  try {
    std::istringstream in{std::string(bytes)};
    torch::serialize::InputArchive archive;
    archive.load_from(in);
    impl_->optimizer().load(archive);
    torch::Tensor rng;
    archive.read("rng", rng);
    Rng::State state;
    for (int64_t i = 0; i < 4; ++i) {
      state[static_cast<size_t>(i)] =
          static_cast<uint64_t>(rng[i].item<int64_t>());
    }
    impl_->rng().set_state(state);
    return absl::OkStatus();
  } catch (const std::exception&) {
    return absl::InvalidArgumentError("not the state of a gradient descent");
  }
}

}  // namespace hone::optimizers::policies
