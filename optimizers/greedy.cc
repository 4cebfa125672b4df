#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"

#include "base/hash.h"
#include "optimizers/batch_optimizer.h"
#include "optimizers/moves.h"
#include "optimizers/registry.h"

namespace hone::optimizers {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Steepest descent from the initial state, then from where the default ends:
// tries every legal action and takes the cheapest state not seen before, as
// long as it costs no more than the present one.
class GreedySteps final : public BatchOptimizer {
 public:
  explicit GreedySteps(const space::SequentialProblem& problem)
      : BatchOptimizer(problem), problem_(problem) {}

  absl::string_view name() const override { return "greedy"; }

 private:
  struct Node {
    Path path;
    double cost = kInfinity;
  };

  void Learn(const space::Trial& trial) override {
    const double cost = space::EffectiveCost(trial.measurement);
    Node node{Follow(problem_, trial.candidate.choices), cost};
    if (node.path.state == nullptr) return;
    if (!seen_.insert(node.path.state->key()).second) return;
    if (descending_) {
      if (cost < next_.cost) next_ = std::move(node);
    } else {
      starts_.push_back(std::move(node));
    }
  }

  std::vector<space::Candidate> Plan() override {
    if (!initial_proposed_) {
      initial_proposed_ = true;
      if (!seen_.contains(problem_.InitialState()->key())) {
        return {space::Candidate{}};
      }
    }
    while (true) {
      if (descending_ && next_.cost < kInfinity &&
          next_.cost <= current_.cost) {
        current_ = std::move(next_);
      } else if (!starts_.empty()) {
        current_ = std::move(starts_.back());
        starts_.pop_back();
      } else {
        return {};
      }
      descending_ = true;
      next_ = Node{};
      std::vector<space::Candidate> batch = Successors();
      if (!batch.empty()) return batch;
    }
  }

  std::vector<space::Candidate> Successors() const {
    std::vector<space::Candidate> batch;
    const std::vector<int32_t>& actions = current_.path.actions;
    if (actions.size() >= static_cast<size_t>(problem_.max_steps())) {
      return batch;
    }
    for (int32_t action : problem_.LegalActions(current_.path.state)) {
      batch.push_back({actions});
      batch.back().choices.push_back(action);
    }
    return batch;
  }

  const space::SequentialProblem& problem_;
  absl::flat_hash_set<Hash128> seen_;
  bool initial_proposed_ = false;
  bool descending_ = false;
  // The starts of further descents, last first.
  std::vector<Node> starts_;
  Node current_;
  // The best successor of current_ so far.
  Node next_;
};

// Coordinate descent from the default: each variable in turn takes its best
// value, until a whole round improves nothing.
class GreedyAssignment final : public BatchOptimizer {
 public:
  explicit GreedyAssignment(const space::AssignmentProblem& problem)
      : BatchOptimizer(problem), problem_(problem) {}

  absl::string_view name() const override { return "greedy"; }

 private:
  void Learn(const space::Trial& trial) override {
    const double cost = space::EffectiveCost(trial.measurement);
    if (best_.empty() || cost < best_cost_) {
      best_ = trial.candidate.choices;
      best_cost_ = cost;
      unimproved_ = 0;
    }
  }

  std::vector<space::Candidate> Plan() override {
    std::vector<space::Candidate> batch;
    while (batch.empty() && unimproved_ < problem_.variable_count()) {
      const int32_t v = variable_;
      variable_ = (variable_ + 1) % problem_.variable_count();
      ++unimproved_;
      for (int32_t value = 0; value < problem_.domain_size(v); ++value) {
        space::Candidate candidate{best_};
        int32_t& slot = candidate.choices[static_cast<size_t>(v)];
        if (slot == value) continue;
        slot = value;
        if (problem_.IsFeasiblePrefix(candidate.choices)) {
          batch.push_back(std::move(candidate));
        }
      }
    }
    return batch;
  }

  const space::AssignmentProblem& problem_;
  std::vector<int32_t> best_;
  double best_cost_ = kInfinity;
  int32_t variable_ = 0;
  // Variables tried since the last improvement.
  int32_t unimproved_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> MakeGreedy(
    const space::Problem& problem, const OptimizerOptions&) {
  if (const auto* sequential = problem.sequential()) {
    return std::make_unique<GreedySteps>(*sequential);
  }
  return std::make_unique<GreedyAssignment>(*problem.assignment());
}

}  // namespace hone::optimizers
