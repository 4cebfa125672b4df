#include "learning/cost_learner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_set.h"

#include "base/rng.h"
#include "base/thread_pool.h"
#include "learning/networks/cost_network.h"
#include "learning/networks/cost_regression.h"
#include "learning/networks/descent.h"
#include "learning/networks/losses.h"
#include "learning/networks/torch_threads.h"

namespace hone::learning {
namespace {

// Parts of a minibatch that are computed side by side. Fixed, as the sum of
// their gradients depends on it.
constexpr size_t kParts = 2;

// Samples that deviations are fitted to, at most about: more tell no more.
constexpr size_t kSamplesForDeviations = 20000;

// Adds up the columns of rows.
class Moments {
 public:
  explicit Moments(int32_t columns)
      : sum_(static_cast<size_t>(columns)), squares_(sum_.size()) {}

  void Add(const std::vector<float>& rows) {
    if (sum_.empty()) return;
    for (size_t i = 0; i < rows.size(); ++i) {
      const double x = static_cast<double>(rows[i]);
      sum_[i % sum_.size()] += x;
      squares_[i % sum_.size()] += x * x;
    }
    count_ += static_cast<double>(rows.size() / sum_.size());
  }

  // Writes the means and the inverse deviations. A column that is constant gets
  // scale 0: what it would be elsewhere, nothing has been learned about.
  void Write(CostNetworkImpl::Standard& standard) const {
    for (size_t i = 0; i < sum_.size() && count_ > 0; ++i) {
      const double mean = sum_[i] / count_;
      const double deviation =
          std::sqrt(std::max(squares_[i] / count_ - mean * mean, 0.0));
      const auto column = static_cast<int64_t>(i);
      standard.mean[column] = mean;
      standard.scale[column] =
          deviation > 1e-5 * (1 + std::abs(mean)) ? 1 / deviation : 0;
    }
  }

 private:
  std::vector<double> sum_;
  std::vector<double> squares_;
  double count_ = 0;
};

bool LearnsTimes(const CostHead& head, OrderLoss loss) {
  return head.target == CostTarget::kTime || loss == OrderLoss::kSquared;
}

// Hides the kinds of a share of the nodes.
void HideKinds(double share, Rng& rng, torch::Tensor& kinds) {
  auto kind = kinds.accessor<int64_t, 1>();
  for (int64_t i = 0; i < kinds.size(0); ++i) {
    if (rng.Uniform() < share) kind[i] = 0;
  }
}

// Adds noise to rows of features, of which a standard is all that a network
// sees. Columns without an effect keep their values.
void AddNoise(double deviation, const CostNetworkImpl::Standard& standard,
              at::Generator& generator, torch::Tensor& rows) {
  if (rows.numel() == 0) return;
  const torch::Tensor units =
      torch::where(standard.scale > 0, 1 / standard.scale, torch::zeros({}));
  rows = rows + torch::randn(rows.sizes(), generator, rows.options()) *
                    (deviation * units);
}

// Returns evenly chosen groups with about `samples` samples of a head.
std::vector<CostGroup> SomeGroups(absl::Span<const CostGroup> groups,
                                  int32_t head, size_t samples) {
  std::vector<const CostGroup*> of_head;
  size_t total = 0;
  for (const CostGroup& group : groups) {
    if (group.head != head) continue;
    of_head.push_back(&group);
    total += group.samples.size();
  }
  const size_t step = total / samples + 1;
  std::vector<CostGroup> some;
  for (size_t i = 0; i < of_head.size(); i += step) some.push_back(*of_head[i]);
  return some;
}

}  // namespace

class CostLearner::Impl {
 public:
  Impl(CostModel& model, const CostTrainingOptions& options)
      : model_(model),
        options_(options),
        descent_(model.network(), options.learning_rate,
                 options.max_gradient_norm, options.seed),
        pool_(kParts - 1) {
    // Scores for an order are learned as they come.
    const torch::NoGradGuard no_grad;
    for (size_t h = 0; h < model.spec().heads.size(); ++h) {
      if (LearnsTimes(model.spec().heads[h], options.order_loss)) continue;
      model.network()->heads()[h].target.mean.zero_();
      model.network()->heads()[h].target.scale.fill_(1);
    }
    model.WeightsChanged();
    for (size_t i = 1; i < kParts; ++i) {
      std::shared_ptr<CostNetworkImpl> replica;
      WithSeed(0, [&] {
        replica =
            std::make_shared<CostNetworkImpl>(model.spec(), model.options());
      });
      Share(*model.network(), *replica);
      replicas_.push_back(std::move(replica));
    }
  }

  Descent& descent() { return descent_; }

  void FitScales(absl::Span<const CostGroup> groups) {
    const torch::NoGradGuard no_grad;
    const CostSpec& spec = model_.spec();
    Moments nodes(spec.graph.node_features), edges(spec.graph.edge_features),
        globals(spec.graph.global_features),
        configs(static_cast<int32_t>(spec.config_names.size()));
    std::vector<Moments> targets(spec.heads.size(), Moments(1));
    absl::flat_hash_set<const space::Observation*> seen;
    for (const CostGroup& group : groups) {
      std::vector<float> log_times;
      for (const CostSample& sample : group.samples) {
        configs.Add(sample.config);
        log_times.push_back(static_cast<float>(sample.log_time));
        if (!seen.insert(sample.graph.get()).second) continue;
        nodes.Add(sample.graph->node_features);
        edges.Add(sample.graph->edge_features);
        globals.Add(sample.graph->global_features);
      }
      targets[static_cast<size_t>(group.head)].Add(log_times);
    }
    CostNetworkImpl& network = *model_.network();
    nodes.Write(network.nodes);
    edges.Write(network.edges);
    globals.Write(network.globals);
    configs.Write(network.configs);
    for (size_t h = 0; h < spec.heads.size(); ++h) {
      if (!LearnsTimes(spec.heads[h], options_.order_loss)) continue;
      CostNetworkImpl::Standard& target = network.heads()[h].target;
      targets[h].Write(target);
      // Outputs are scaled by the deviation, inputs by its inverse.
      const double inverse = target.scale.item<double>();
      target.scale.fill_(inverse > 0 ? 1 / inverse : 1);
    }
    model_.WeightsChanged();
  }

  double Update(absl::Span<const Drawn> minibatch, double learning_rate) {
    double weight = 0;
    size_t nodes = 0;
    for (const Drawn& drawn : minibatch) {
      weight += drawn.group->weight;
      nodes += NodesOf(drawn);
    }
    if (!(weight > 0)) return 0;
    // Parts of about the same number of nodes.
    std::vector<absl::Span<const Drawn>> parts;
    size_t begin = 0, before = 0;
    for (size_t i = 0; i < minibatch.size(); ++i) {
      before += NodesOf(minibatch[i]);
      if (parts.size() + 1 < kParts &&
          before * kParts >= nodes * (parts.size() + 1)) {
        parts.push_back(minibatch.subspan(begin, i + 1 - begin));
        begin = i + 1;
      }
    }
    if (begin < minibatch.size()) parts.push_back(minibatch.subspan(begin));
    std::vector<Rng> generators;
    for (size_t i = 0; i < parts.size(); ++i) {
      generators.push_back(descent_.rng().Split());
    }
    std::vector<double> losses(parts.size());
    pool_.ParallelFor(static_cast<int64_t>(parts.size()), 1,
                      [&](int64_t first, int64_t end) {
                        for (auto i = static_cast<size_t>(first);
                             i < static_cast<size_t>(end); ++i) {
                          CostNetworkImpl& network =
                              i == 0 ? *model_.network() : *replicas_[i - 1];
                          const torch::Tensor loss =
                              Loss(parts[i], weight, network, generators[i]);
                          losses[i] = loss.item<double>();
                          loss.backward();
                        }
                      });
    for (const auto& replica : replicas_) AddGradients(*replica);
    Decay(learning_rate);
    descent_.set_learning_rate(learning_rate);
    descent_.Step();
    double loss = 0;
    for (const double part : losses) loss += part;
    return loss;
  }

  void Finish(absl::Span<const CostGroup> training,
              absl::Span<const CostGroup> validation) {
    const CostSpec& spec = model_.spec();
    CostNetworkImpl& network = *model_.network();
    NameUnseenKinds(training);
    network.set_known(KnownInputsOf(training, spec));
    for (size_t h = 0; h < spec.heads.size(); ++h) {
      const auto head = static_cast<int32_t>(h);
      const std::vector<CostGroup> known =
          SomeGroups(training, head, kSamplesForDeviations);
      std::vector<CostGroup> held_out =
          SomeGroups(validation, head, kSamplesForDeviations);
      if (held_out.empty()) held_out = known;
      if (!LearnsTimes(spec.heads[h], options_.order_loss)) {
        FitOrderScale(head, held_out, spec, network);
      }
      FitDeviations(head, known, held_out, spec, network);
    }
    model_.WeightsChanged();
  }

 private:
  // Makes a network use the memory of another's weights.
  static void Share(const CostNetworkImpl& from, CostNetworkImpl& to) {
    const auto share = [](const std::vector<torch::Tensor>& sources,
                          std::vector<torch::Tensor> targets) {
      for (size_t i = 0; i < targets.size(); ++i) {
        targets[i].set_data(sources[i].detach());
      }
    };
    share(from.parameters(), to.parameters());
    share(from.buffers(), to.buffers());
  }

  size_t NodesOf(const Drawn& drawn) const {
    const CostGroup& group = *drawn.group;
    size_t nodes = 0;
    const space::Observation* last = nullptr;
    for (const size_t i : drawn.samples) {
      const space::Observation* const graph = group.samples[i].graph.get();
      if (graph != last || model_.options().join == CostJoin::kEarly) {
        nodes += graph->node_kinds.size();
      }
      last = graph;
    }
    return nodes + drawn.samples.size();
  }

  // The part's share of the mean loss of the minibatch.
  torch::Tensor Loss(absl::Span<const Drawn> part, double weight,
                     CostNetworkImpl& network, Rng& rng) const {
    std::vector<CostQuery> queries;
    std::vector<std::vector<const Drawn*>> of_head(model_.spec().heads.size());
    std::vector<std::vector<int64_t>> rows_of_head(of_head.size());
    for (const Drawn& drawn : part) {
      const auto head = static_cast<size_t>(drawn.group->head);
      of_head[head].push_back(&drawn);
      for (const size_t i : drawn.samples) {
        rows_of_head[head].push_back(static_cast<int64_t>(queries.size()));
        const CostSample& sample = drawn.group->samples[i];
        queries.push_back({sample.graph.get(), sample.config});
      }
    }
    CostBatch batch =
        MakeCostBatch(queries, model_.spec(), model_.options().join);
    if (options_.unknown_share > 0) {
      HideKinds(options_.unknown_share, rng, batch.graphs.node_kinds);
    }
    if (options_.input_noise > 0) {
      at::Generator generator = at::detail::createCPUGenerator(rng());
      AddNoise(options_.input_noise, network.nodes, generator,
               batch.graphs.node_features);
      AddNoise(options_.input_noise, network.configs, generator, batch.configs);
    }
    const torch::Tensor kernels = network.Kernels(batch);
    torch::Tensor loss = torch::zeros({});
    for (size_t h = 0; h < of_head.size(); ++h) {
      if (of_head[h].empty()) continue;
      const auto head = static_cast<int32_t>(h);
      const torch::Tensor values = network.Output(
          head, network.Hidden(head, kernels, batch,
                               torch::tensor(rows_of_head[h], torch::kInt64)));
      loss = loss + HeadLoss(model_.spec().heads[h], of_head[h], values);
    }
    return loss / weight;
  }

  // The weighted sum of the losses of groups of one head. values: [R].
  torch::Tensor HeadLoss(const CostHead& head,
                         const std::vector<const Drawn*>& groups,
                         const torch::Tensor& values) const {
    size_t longest = 1;
    for (const Drawn* drawn : groups) {
      longest = std::max(longest, drawn->samples.size());
    }
    const auto count = static_cast<int64_t>(groups.size());
    const auto length = static_cast<int64_t>(longest);
    std::vector<float> times(groups.size() * longest), weights;
    std::vector<int64_t> rows(times.size());
    std::vector<uint8_t> present(times.size());
    int64_t row = 0;
    for (size_t g = 0; g < groups.size(); ++g) {
      const Drawn& drawn = *groups[g];
      weights.push_back(static_cast<float>(drawn.group->weight));
      for (size_t i = 0; i < drawn.samples.size(); ++i) {
        const size_t cell = g * longest + i;
        rows[cell] = row++;
        present[cell] = 1;
        times[cell] =
            static_cast<float>(drawn.group->samples[drawn.samples[i]].log_time);
      }
    }
    const torch::Tensor is_there =
        torch::tensor(present).to(torch::kBool).view({count, length});
    const torch::Tensor log_times = torch::tensor(times).view({count, length});
    const torch::Tensor predicted =
        values.index_select(0, torch::tensor(rows, torch::kInt64))
            .view({count, length});
    torch::Tensor losses;
    if (LearnsTimes(head, options_.order_loss)) {
      losses = torch::where(is_there, LogTimeLoss(predicted, log_times),
                            torch::zeros({}))
                   .sum(1) /
               is_there.sum(1);
    } else {
      losses = PairwiseLoss(options_.order_loss == OrderLoss::kHinge
                                ? PairLoss::kHinge
                                : PairLoss::kLogistic,
                            predicted, log_times, is_there);
    }
    return (losses * torch::tensor(weights)).sum();
  }

  // Moves the gradients of a replica to the network.
  void AddGradients(CostNetworkImpl& replica) {
    const std::vector<torch::Tensor> sources = replica.parameters();
    std::vector<torch::Tensor> targets = model_.network()->parameters();
    for (size_t i = 0; i < sources.size(); ++i) {
      torch::Tensor& gradient =
          const_cast<torch::Tensor&>(sources[i]).mutable_grad();
      if (!gradient.defined()) continue;
      if (targets[i].grad().defined()) {
        targets[i].mutable_grad().add_(gradient);
      } else {
        targets[i].mutable_grad() = gradient.clone();
      }
      gradient.zero_();
    }
  }

  // Source: Loshchilov and Hutter, "Decoupled Weight Decay Regularization",
  // 2019. Biases and single rows are left as they are.
  void Decay(double learning_rate) {
    const torch::NoGradGuard no_grad;
    for (torch::Tensor parameter : model_.network()->parameters()) {
      if (parameter.dim() < 2) continue;
      parameter.mul_(1 - learning_rate * options_.weight_decay);
    }
  }

  // Kinds that no training group has are like unknown ones.
  void NameUnseenKinds(absl::Span<const CostGroup> training) {
    const torch::NoGradGuard no_grad;
    torch::Tensor kinds = model_.network()->encoder()->node_kinds()->weight;
    std::vector<bool> seen(static_cast<size_t>(kinds.size(0)));
    for (const CostGroup& group : training) {
      for (const CostSample& sample : group.samples) {
        for (const int32_t kind : sample.graph->node_kinds) {
          seen[static_cast<size_t>(kind)] = true;
        }
      }
    }
    for (size_t kind = 1; kind < seen.size(); ++kind) {
      if (!seen[kind]) kinds[static_cast<int64_t>(kind)].copy_(kinds[0]);
    }
  }

  CostModel& model_;
  const CostTrainingOptions options_;
  Descent descent_;
  ThreadPool pool_;
  std::vector<std::shared_ptr<CostNetworkImpl>> replicas_;
};

CostLearner::CostLearner(CostModel& model, const CostTrainingOptions& options)
    : impl_(std::make_unique<Impl>(model, options)) {}

CostLearner::~CostLearner() = default;

void CostLearner::FitScales(absl::Span<const CostGroup> groups) {
  impl_->FitScales(groups);
}

double CostLearner::Update(absl::Span<const Drawn> minibatch,
                           double learning_rate) {
  return impl_->Update(minibatch, learning_rate);
}

void CostLearner::Finish(absl::Span<const CostGroup> training,
                         absl::Span<const CostGroup> validation) {
  impl_->Finish(training, validation);
}

std::string CostLearner::SerializeDescent() const {
  return impl_->descent().Serialize();
}

absl::Status CostLearner::ParseDescent(absl::string_view bytes) {
  return impl_->descent().Parse(bytes);
}

}  // namespace hone::learning
