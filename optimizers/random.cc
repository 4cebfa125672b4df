#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

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
  RandomWalks(const space::SequentialProblem& problem,
              const OptimizerOptions& options)
      : BatchOptimizer(problem, options), problem_(problem) {}

  absl::string_view name() const override { return "random"; }

 private:
  struct Walk {
    Path path;
    // Steps in a row that changed nothing.
    int32_t idle = 0;
  };

  Walk Start() const { return {{problem_.InitialState(), {}}, 0}; }

  void Begin(absl::Span<const space::Trial>) override { walks_.fill(Start()); }

  void Learn(const space::Trial& trial) override {
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
      if (!AddStep(walk, batch)) {
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
    // As many steps in vain as there are: the walk is likely at an end.
    if (static_cast<size_t>(walk.idle) >= legal.size()) return false;
    batch.push_back({actions});
    batch.back().choices.push_back(legal[rng().Below(legal.size())]);
    moving_.push_back(&walk);
    return true;
  }

  const space::SequentialProblem& problem_;
  std::array<Walk, kWalks> walks_;
  // The walks of the batch's candidates.
  std::vector<Walk*> moving_;
  size_t learned_ = 0;
};

// Independent assignments, each variable uniform over what the constraints
// leave after those before it.
class RandomAssignments final : public BatchOptimizer {
 public:
  RandomAssignments(const space::AssignmentProblem& problem,
                    const OptimizerOptions& options)
      : BatchOptimizer(problem, options), editor_(problem) {}

  absl::string_view name() const override { return "random"; }

 private:
  void Begin(absl::Span<const space::Trial>) override {}
  void Learn(const space::Trial&) override {}

  std::vector<space::Candidate> Plan() override {
    std::vector<space::Candidate> batch;
    batch.reserve(kWalks);
    for (size_t i = 0; i < kWalks && !stopped(); ++i) {
      batch.push_back({editor_.Draw(rng(), [this] { return stopped(); })});
    }
    return batch;
  }

  AssignmentEditor editor_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> MakeRandom(
    const space::Problem& problem, const OptimizerOptions& options) {
  if (const auto* sequential = problem.sequential()) {
    return std::make_unique<RandomWalks>(*sequential, options);
  }
  return std::make_unique<RandomAssignments>(*problem.assignment(), options);
}

}  // namespace hone::optimizers
