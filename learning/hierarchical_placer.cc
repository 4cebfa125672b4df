#include "learning/hierarchical_placer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

#include "learning/networks/descent.h"
#include "learning/networks/group_rows.h"
#include "learning/networks/losses.h"
#include "learning/networks/placer_network.h"
#include "learning/networks/tensors.h"
#include "learning/networks/torch_threads.h"

namespace hone::learning {
namespace {

constexpr double kMaxGradientNorm = 1;
// Differences of rewards that mean nothing.
constexpr float kLeastDeviation = 1e-4F;

// Draws one of the columns of each row in proportion to the exponentials of
// `logarithms` [R, C], `count` times: [count][R].
std::vector<std::vector<int32_t>> DrawColumns(const torch::Tensor& logarithms,
                                              int32_t count, Rng& rng) {
  const torch::Tensor sums =
      torch::exp(logarithms).cumsum(1).to(torch::kFloat).contiguous();
  const auto rows = static_cast<size_t>(sums.size(0));
  const auto columns = static_cast<size_t>(sums.size(1));
  std::vector<std::vector<int32_t>> drawn(static_cast<size_t>(count));
  for (std::vector<int32_t>& values : drawn) {
    for (size_t r = 0; r < rows; ++r) {
      const float* const row = sums.data_ptr<float>() + r * columns;
      const auto at = static_cast<float>(rng.Uniform()) * row[columns - 1];
      const float* const found = std::upper_bound(row, row + columns - 1, at);
      values.push_back(static_cast<int32_t>(found - row));
    }
  }
  return drawn;
}

}  // namespace

class HierarchicalPlacer::Impl {
 public:
  Impl(const space::AssignmentProblem& problem,
       const space::VariableGroup& variables,
       const HierarchicalPlacerOptions& options, uint64_t seed)
      : options_(options),
        operators_(MakeOperators(problem, variables)),
        groups_(std::min<int64_t>(options.groups, operators_.count)),
        kinds_(Ids(operators_.kinds, {operators_.count})),
        features_(Numbers(operators_.features,
                          {operators_.count, operators_.feature_count})),
        entropy_weight_(options.entropy_weight) {
    WithSeed(seed, [&] {
      network_ = PlacerNetwork(operators_.kind_count, operators_.feature_count,
                               groups_, static_cast<int64_t>(variables.domain));
    });
    descent_.emplace(network_.ptr(), static_cast<double>(options.learning_rate),
                     kMaxGradientNorm, seed);
  }

  std::vector<GroupedPlacement> Draw(int32_t count, double temperature,
                                     Rng& rng) {
    torch::NoGradGuard no_grad;
    std::vector<GroupedPlacement> placements;
    for (std::vector<int32_t>& groups :
         DrawColumns(GroupLogarithms(temperature), count, rng)) {
      placements.push_back(
          {.groups = std::move(groups),
           .devices = std::vector<int32_t>(static_cast<size_t>(groups_), -1),
           .values = {}});
    }
    const GroupRows rows = RowsOf(placements);
    network_->Place(
        rows, temperature, [&](int64_t s, const torch::Tensor& logarithms) {
          const std::vector<int32_t> devices =
              DrawColumns(logarithms, 1, rng)[0];
          for (size_t b = 0; b < placements.size(); ++b) {
            placements[b].devices[rows.order[b][static_cast<size_t>(s)]] =
                devices[b];
          }
          return Ids(devices, {count});
        });
    for (GroupedPlacement& placement : placements) {
      std::vector<uint8_t> used(placement.devices.size());
      for (const int32_t group : placement.groups) {
        placement.values.push_back(
            placement.devices[static_cast<size_t>(group)]);
        used[static_cast<size_t>(group)] = 1;
      }
      for (size_t g = 0; g < used.size(); ++g) {
        if (used[g] == 0) placement.devices[g] = -1;
      }
    }
    return placements;
  }

  HierarchicalPlacerStatistics Update(
      absl::Span<const GroupedPlacement> placements, double temperature,
      absl::Span<const float> rewards) {
    const auto batch = static_cast<int64_t>(placements.size());
    const float mean = std::accumulate(rewards.begin(), rewards.end(), 0.F) /
                       static_cast<float>(rewards.size());
    if (!baseline_) baseline_ = mean;
    const torch::Tensor differences =
        Numbers({rewards.begin(), rewards.end()}, {batch}) - *baseline_;
    const float keep = variance_ ? options_.baseline_decay : 0;
    variance_ = keep * variance_.value_or(0) +
                (1 - keep) * differences.square().mean().item<float>();
    const torch::Tensor advantages =
        differences / std::max(kLeastDeviation, std::sqrt(*variance_));
    HierarchicalPlacerStatistics statistics;
    statistics.baseline = static_cast<double>(*baseline_);
    baseline_ = options_.baseline_decay * *baseline_ +
                (1 - options_.baseline_decay) * mean;

    std::vector<int32_t> groups;
    for (const GroupedPlacement& placement : placements) {
      groups.insert(groups.end(), placement.groups.begin(),
                    placement.groups.end());
    }
    const torch::Tensor grouping = GroupLogarithms(temperature);
    const torch::Tensor grouped =
        grouping.gather(1, Ids(groups, {batch, operators_.count}).t()).mean(0);
    const torch::Tensor grouper_entropy = Entropy(grouping).mean();

    const GroupRows rows = RowsOf(placements);
    std::vector<int32_t> devices;
    for (size_t b = 0; b < placements.size(); ++b) {
      for (size_t s = 0; s < static_cast<size_t>(rows.count); ++s) {
        // Nothing depends on the device of a group without operators.
        devices.push_back(std::max(0, placements[b].devices[rows.order[b][s]]));
      }
    }
    const torch::Tensor chosen = Ids(devices, {batch, rows.count});
    const torch::Tensor placing = network_->Place(
        rows, temperature,
        [&](int64_t s, const torch::Tensor&) { return chosen.select(1, s); });
    const torch::Tensor present = rows.present.to(torch::kFloat);
    const torch::Tensor placed =
        (placing.gather(2, chosen.unsqueeze(2)).squeeze(2) * present).sum(1) /
        present.sum(1);
    const torch::Tensor placer_entropy =
        (Entropy(placing.flatten(0, 1)) * present.flatten()).sum() /
        present.sum();

    descent_->Accumulate(-(advantages * (grouped + placed)).mean() -
                         entropy_weight_ * (grouper_entropy + placer_entropy));
    descent_->Step();
    entropy_weight_ *= options_.entropy_decay;
    statistics.grouper_entropy = grouper_entropy.item<double>();
    statistics.placer_entropy = placer_entropy.item<double>();
    return statistics;
  }

 private:
  GroupRows RowsOf(absl::Span<const GroupedPlacement> placements) const {
    std::vector<absl::Span<const int32_t>> groups;
    for (const GroupedPlacement& placement : placements) {
      groups.push_back(placement.groups);
    }
    return MakeGroupRows(operators_, static_cast<size_t>(groups_), groups);
  }

  torch::Tensor GroupLogarithms(double temperature) {
    return torch::log_softmax(network_->Group(kinds_, features_) / temperature,
                              1);
  }

  const HierarchicalPlacerOptions options_;
  const Operators operators_;
  const int64_t groups_;
  const torch::Tensor kinds_;
  const torch::Tensor features_;
  PlacerNetwork network_{nullptr};
  std::optional<Descent> descent_;
  // The moving average of the rewards; none before the first update.
  std::optional<float> baseline_;
  // The moving average of the squares of their differences to it.
  std::optional<float> variance_;
  float entropy_weight_;
};

HierarchicalPlacer::HierarchicalPlacer(const space::AssignmentProblem& problem,
                                       const space::VariableGroup& variables,
                                       const HierarchicalPlacerOptions& options,
                                       uint64_t seed)
    : impl_(std::make_unique<Impl>(problem, variables, options, seed)) {}

HierarchicalPlacer::~HierarchicalPlacer() = default;

std::vector<GroupedPlacement> HierarchicalPlacer::Draw(int32_t count,
                                                       double temperature,
                                                       Rng& rng) const {
  return impl_->Draw(count, temperature, rng);
}

HierarchicalPlacerStatistics HierarchicalPlacer::Update(
    absl::Span<const GroupedPlacement> placements, double temperature,
    absl::Span<const float> rewards) {
  return impl_->Update(placements, temperature, rewards);
}

}  // namespace hone::learning
