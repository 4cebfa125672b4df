#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "optimizers/batch_optimizer.h"
#include "optimizers/moves.h"
#include "optimizers/registry.h"

namespace hone::optimizers {
namespace {

// Walks side by side, so that a batch can be measured in parallel.
constexpr size_t kWalks = 4;

// Random walks from the initial state. Every step is a trial, so that a random
// search does the same work per trial as the others do. A step that changes
// nothing is not kept.
class RandomWalks final : public BatchOptimizer {
 public:
  RandomWalks(const space::SequentialProblem& problem, uint64_t seed)
      : BatchOptimizer(problem), problem_(problem), rng_(seed) {
    walks_.fill(Start());
  }

  absl::string_view name() const override { return "random"; }

 private:
  struct Walk {
    Path path;
    // Steps in a row that changed nothing.
    int32_t idle = 0;
  };

  Walk Start() const { return {{problem_.InitialState(), {}}, 0}; }

  void Learn(const space::Trial& trial) override {
    if (moving_.empty()) return;  // The default is not part of a walk.
    Walk& walk = *moving_[learned_++];
    const int32_t action = trial.candidate.choices.back();
    const absl::StatusOr<space::StatePtr> next =
        problem_.Step(walk.path.state, action);
    if (!next.ok() || (*next)->key() == walk.path.state->key()) {
      ++walk.idle;
      return;
    }
    walk.path.state = *next;
    walk.path.actions.push_back(action);
    walk.idle = 0;
  }

  std::vector<space::Candidate> Plan() override {
    std::vector<space::Candidate> batch;
    moving_.clear();
    learned_ = 0;
    for (Walk& walk : walks_) {
      if (walk.idle >= problem_.action_count() || !AddStep(walk, batch)) {
        walk = Start();
        AddStep(walk, batch);
      }
    }
    return batch;
  }

  // False when the walk can go no further.
  bool AddStep(Walk& walk, std::vector<space::Candidate>& batch) {
    const std::vector<int32_t>& actions = walk.path.actions;
    if (actions.size() >= static_cast<size_t>(problem_.max_steps())) {
      return false;
    }
    const std::vector<int32_t> legal = problem_.LegalActions(walk.path.state);
    if (legal.empty()) return false;
    batch.push_back({actions});
    batch.back().choices.push_back(legal[rng_.Below(legal.size())]);
    moving_.push_back(&walk);
    return true;
  }

  const space::SequentialProblem& problem_;
  Rng rng_;
  std::array<Walk, kWalks> walks_;
  // The walks of the batch's candidates.
  std::vector<Walk*> moving_;
  size_t learned_ = 0;
};

// Independent assignments, uniform over the values that keep each prefix
// feasible.
class RandomAssignments final : public BatchOptimizer {
 public:
  RandomAssignments(const space::AssignmentProblem& problem, uint64_t seed)
      : BatchOptimizer(problem), problem_(problem), rng_(seed) {}

  absl::string_view name() const override { return "random"; }

 private:
  // Attempts to draw an assignment without a dead end.
  static constexpr int kMaxDraws = 16;

  void Learn(const space::Trial&) override {}

  std::vector<space::Candidate> Plan() override {
    std::vector<space::Candidate> batch;
    batch.reserve(kWalks);
    for (size_t i = 0; i < kWalks; ++i) batch.push_back(Draw());
    return batch;
  }

  space::Candidate Draw() {
    space::Candidate candidate;
    for (int draw = 0; draw < kMaxDraws; ++draw) {
      candidate.choices.clear();
      bool feasible = true;
      for (int32_t v = 0; v < problem_.variable_count(); ++v) {
        feasible = DrawValue(v, candidate.choices) && feasible;
      }
      if (feasible) break;
    }
    return candidate;
  }

  // Appends a value for variable `v`; returns false when none is feasible.
  bool DrawValue(int32_t v, std::vector<int32_t>& prefix) {
    std::vector<int32_t> feasible;
    prefix.push_back(0);
    for (int32_t value = 0; value < problem_.domain_size(v); ++value) {
      prefix.back() = value;
      if (problem_.IsFeasiblePrefix(prefix)) feasible.push_back(value);
    }
    if (feasible.empty()) {
      prefix.back() = static_cast<int32_t>(
          rng_.Below(static_cast<uint64_t>(problem_.domain_size(v))));
      return false;
    }
    prefix.back() = feasible[rng_.Below(feasible.size())];
    return true;
  }

  const space::AssignmentProblem& problem_;
  Rng rng_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> MakeRandom(
    const space::Problem& problem, const OptimizerOptions& options) {
  if (const auto* sequential = problem.sequential()) {
    return std::make_unique<RandomWalks>(*sequential, options.seed);
  }
  return std::make_unique<RandomAssignments>(*problem.assignment(),
                                             options.seed);
}

}  // namespace hone::optimizers
