#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

#include "learning/hierarchical_placer.h"
#include "optimizers/batch_optimizer.h"
#include "optimizers/moves.h"
#include "optimizers/policies/factories.h"
#include "space/assignment_problem.h"

namespace hone::optimizers::policies {
namespace {

using learning::GroupedPlacement;
using learning::HierarchicalPlacer;

// Placements of an update.
constexpr int32_t kSamples = 10;
// Rounds without anything new after which the space counts as exhausted, and
// how much hotter each of them is drawn than the one before.
constexpr int kMaxFruitless = 25;
constexpr double kHeating = 0.25;
// Costs count as at most so many times the reference.
constexpr double kMostCost = 1e4;
// The reward of an invalid placement, relative to the worst valid one, or as it
// is without any.
constexpr float kInvalidFactor = 1.1F;
constexpr float kInvalidReward = -2;

// Returns the group to be placed: "device", else the one with the most
// variables; null if no group has more than one value.
const space::VariableGroup* GroupToPlace(
    const space::AssignmentProblem& problem) {
  const space::VariableGroup* found = nullptr;
  for (const space::VariableGroup& group : problem.groups()) {
    if (group.count == 0 || group.domain < 2) continue;
    if (group.name == "device") return &group;
    if (found == nullptr || group.count > found->count) found = &group;
  }
  return found;
}

// Learns to place the operators of this one graph while tuning it, from random
// weights. Variables of other groups keep the values of the best assignment
// that the search began with, but for groups of one variable, like the order of
// a step: after 1, 2, 4, … updates the best sample is tried with each of their
// values, and later samples have the best of those.
class Hdp final : public BatchOptimizer {
 public:
  Hdp(const space::AssignmentProblem& problem, const OptimizerOptions& options)
      : BatchOptimizer(problem, options),
        problem_(problem),
        group_(GroupToPlace(problem)) {}

  absl::string_view name() const override { return "hdp"; }

 private:
  void Begin(absl::Span<const space::Trial> known) override {
    base_ = BestOf(known).candidate.choices;
    rewards_.clear();
    samples_.clear();
    best_.clear();
    best_rank_ = {INFINITY, INFINITY};
    updates_ = 0;
    varies_at_ = 1;
    worst_ = 0;
    for (const space::Trial& trial : known) LearnReward(trial);
    if (group_ == nullptr) return;
    placer_ = std::make_unique<HierarchicalPlacer>(
        problem_, *group_, learning::HierarchicalPlacerOptions{}, rng().Next());
  }

  void Learn(const space::Trial& trial) override {
    LearnReward(trial);
    const space::Rank rank = space::RankOf(trial.measurement);
    if (!(rank < best_rank_)) return;
    best_ = trial.candidate.choices;
    best_rank_ = rank;
  }

  void LearnReward(const space::Trial& trial) {
    std::optional<float>& reward = rewards_[HashOf(trial.candidate.choices)];
    const double cost = space::EffectiveCost(trial.measurement);
    if (!std::isfinite(cost)) return;
    reward = -static_cast<float>(
        std::sqrt(std::min(cost / problem_.reference_cost(), kMostCost)));
    worst_ = std::min(worst_, *reward);
  }

  std::vector<space::Candidate> Plan() override {
    if (group_ == nullptr) return {};
    for (int round = 0; round < kMaxFruitless; ++round) {
      if (stopped()) break;
      Train();
      if (stopped()) break;
      if (updates_ == varies_at_) {
        varies_at_ *= 2;
        std::vector<space::Candidate> batch = VaryBest();
        if (!batch.empty()) return batch;
      }
      TakeBestVariant();
      temperature_ = 1 + kHeating * round;
      samples_ = placer_->Draw(kSamples, temperature_, rng());
      std::vector<space::Candidate> batch;
      absl::flat_hash_set<Hash128> proposed;
      for (const GroupedPlacement& sample : samples_) {
        std::vector<int32_t> choices = ChoicesOf(sample);
        const Hash128 hash = HashOf(choices);
        if (!rewards_.contains(hash) && proposed.insert(hash).second) {
          batch.push_back({std::move(choices)});
        }
      }
      if (!batch.empty()) return batch;
    }
    return {};
  }

  // The best sample with each other value of each group of one variable.
  std::vector<space::Candidate> VaryBest() const {
    std::vector<space::Candidate> batch;
    if (best_.empty()) return batch;
    for (const space::VariableGroup& group : problem_.groups()) {
      if (&group == group_ || group.count != 1) continue;
      for (int32_t value = 0; value < group.domain; ++value) {
        std::vector<int32_t> choices = best_;
        choices[static_cast<size_t>(group.first)] = value;
        if (!rewards_.contains(HashOf(choices))) {
          batch.push_back({std::move(choices)});
        }
      }
    }
    return batch;
  }

  void TakeBestVariant() {
    if (best_.empty()) return;
    for (const space::VariableGroup& group : problem_.groups()) {
      if (&group == group_ || group.count != 1) continue;
      const auto variable = static_cast<size_t>(group.first);
      base_[variable] = best_[variable];
    }
  }

  std::vector<int32_t> ChoicesOf(const GroupedPlacement& sample) const {
    std::vector<int32_t> choices = base_;
    std::copy(sample.values.begin(), sample.values.end(),
              choices.begin() + group_->first);
    return choices;
  }

  // Learns from the last samples, all of which have been measured.
  void Train() {
    const std::vector<GroupedPlacement> samples = std::exchange(samples_, {});
    if (samples.empty()) return;
    const float invalid = worst_ < 0 ? kInvalidFactor * worst_ : kInvalidReward;
    std::vector<float> rewards;
    for (const GroupedPlacement& sample : samples) {
      rewards.push_back(
          rewards_.at(HashOf(ChoicesOf(sample))).value_or(invalid));
    }
    placer_->Update(samples, temperature_, rewards);
    ++updates_;
  }

  const space::AssignmentProblem& problem_;
  const space::VariableGroup* const group_;
  std::unique_ptr<HierarchicalPlacer> placer_;
  std::vector<int32_t> base_;
  std::vector<int32_t> best_;  // of the samples and their variants
  space::Rank best_rank_;
  int64_t updates_ = 0;
  int64_t varies_at_ = 1;  // updates after which the best is varied
  // Of all trials, by the hash of their values; none of invalid ones.
  absl::flat_hash_map<Hash128, std::optional<float>> rewards_;
  float worst_ = 0;  // reward of a valid trial
  std::vector<GroupedPlacement> samples_;
  double temperature_ = 1;  // of the last samples
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> CreateHdp(
    const space::Problem& problem, const OptimizerOptions& options) {
  return std::make_unique<Hdp>(*problem.assignment(), options);
}

}  // namespace hone::optimizers::policies
