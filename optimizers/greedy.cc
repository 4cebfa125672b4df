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

// Steepest descent from the initial state, then from where the candidates known
// before end: tries every legal action and takes the cheapest state not seen
// before, as long as it costs no more than the present one.
class GreedySteps final : public BatchOptimizer {
 public:
  GreedySteps(const space::SequentialProblem& problem,
              const OptimizerOptions& options)
      : BatchOptimizer(problem, options), problem_(problem) {}

  absl::string_view name() const override { return "greedy"; }

 private:
  struct Node {
    Path path;
    double cost = kInfinity;
  };

  void Begin(absl::Span<const space::Trial> known) override {
    seen_.clear();
    starts_.clear();
    initial_proposed_ = descending_ = false;
    current_ = next_ = Node{};
    for (const space::Trial& trial : known) Learn(trial);
  }

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

// Coordinate descent from the best assignment known: gives one variable after
// the other its best value, until a whole round improves nothing.
class GreedyByTrials final : public BatchOptimizer {
 public:
  GreedyByTrials(const space::AssignmentProblem& problem,
                 const OptimizerOptions& options)
      : BatchOptimizer(problem, options),
        problem_(problem),
        domains_(problem.MakeDomains()),
        editor_(problem) {}

  absl::string_view name() const override { return "greedy"; }

 private:
  void Begin(absl::Span<const space::Trial> known) override {
    const space::Trial& best = BestOf(known);
    best_ = best.candidate.choices;
    best_rank_ = space::RankOf(best.measurement);
    variable_ = unimproved_ = 0;
    repaired_ = best_rank_.violation == 0;
  }

  void Learn(const space::Trial& trial) override {
    const space::Rank rank = space::RankOf(trial.measurement);
    if (!(rank < best_rank_)) return;
    best_ = trial.candidate.choices;
    best_rank_ = rank;
    unimproved_ = 0;
  }

  std::vector<space::Candidate> Plan() override {
    std::vector<space::Candidate> batch;
    // No single change may lead from what violates the constraints.
    if (!std::exchange(repaired_, true)) {
      if (auto values = editor_.Extend(best_, 0, rng())) {
        return {{*std::move(values)}};
      }
    }
    while (batch.empty() && unimproved_ < problem_.variable_count()) {
      const int32_t v = variable_;
      variable_ = (variable_ + 1) % problem_.variable_count();
      ++unimproved_;
      for (int32_t value = 0; value < problem_.domain_size(v); ++value) {
        space::Candidate candidate{best_};
        int32_t& slot = candidate.choices[static_cast<size_t>(v)];
        if (slot == value) continue;
        slot = value;
        if (Satisfies(candidate.choices)) batch.push_back(std::move(candidate));
      }
    }
    return batch;
  }

  // Returns true if the constraints allow these values.
  bool Satisfies(absl::Span<const int32_t> values) {
    const int32_t mark = domains_->Mark();
    bool possible = true;
    for (size_t v = 0; v < values.size() && possible; ++v) {
      possible =
          domains_->Narrow(static_cast<int32_t>(v), uint64_t{1} << values[v]);
    }
    domains_->Undo(mark);
    return possible;
  }

  const space::AssignmentProblem& problem_;
  const std::unique_ptr<space::Domains> domains_;
  AssignmentEditor editor_;
  std::vector<int32_t> best_;
  space::Rank best_rank_;
  int32_t variable_ = 0;
  // Variables tried since the last improvement.
  int32_t unimproved_ = 0;
  bool repaired_ = true;
};

// The same where changes are evaluated incrementally. A trial is made once for
// every round, and after so many tries.
class GreedyByMoves final : public BatchOptimizer {
 public:
  GreedyByMoves(const space::AssignmentProblem& problem,
                const OptimizerOptions& options)
      : BatchOptimizer(problem, options), problem_(problem) {}

  absl::string_view name() const override { return "greedy"; }
  bool replays() const override { return false; }

 private:
  static constexpr int64_t kTriesPerTrial = 20'000;

  void Begin(absl::Span<const space::Trial> known) override {
    state_ = problem_.MakeLocal(BestOf(known).candidate);
    variable_ = unimproved_ = 0;
  }

  void Learn(const space::Trial&) override {}

  std::vector<space::Candidate> Plan() override {
    bool improved = false;
    int64_t tries = 0;
    while (unimproved_ < problem_.variable_count()) {
      const int32_t v = variable_;
      variable_ = (variable_ + 1) % problem_.variable_count();
      ++unimproved_;
      tries += problem_.domain_size(v);
      if (Improve(v)) {
        improved = true;
        unimproved_ = 0;
      }
      if (improved && variable_ == 0) break;
      // Without an improvement, too: the caller looks at its limits in between.
      if (tries >= kTriesPerTrial || stopped()) break;
    }
    if (!improved && unimproved_ >= problem_.variable_count()) return {};
    return {{{state_->values().begin(), state_->values().end()}}};
  }

  // Gives `variable` its best value; returns true if that is a better one.
  bool Improve(int32_t variable) {
    const int32_t old = state_->values()[static_cast<size_t>(variable)];
    const auto key = [](const space::LocalScore& score) {
      return std::make_pair(score.rank.violation, score.energy);
    };
    const auto before = key(state_->score());
    auto least = before;
    space::Change best{variable, old};
    for (int32_t value = 0; value < problem_.domain_size(variable); ++value) {
      if (value == old) continue;
      const space::Change change{variable, value};
      const auto after = key(state_->Try({&change, 1}));
      if (!(after < least)) continue;
      least = after;
      best = change;
    }
    if (best.value == old) return false;
    state_->Try({&best, 1});
    state_->Commit();
    return true;
  }

  const space::AssignmentProblem& problem_;
  std::unique_ptr<space::LocalState> state_;
  int32_t variable_ = 0;
  int32_t unimproved_ = 0;  // as above
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> MakeGreedy(
    const space::Problem& problem, const OptimizerOptions& options) {
  if (const auto* sequential = problem.sequential()) {
    return std::make_unique<GreedySteps>(*sequential, options);
  }
  const space::AssignmentProblem& assignment = *problem.assignment();
  if (assignment.MakeLocal(assignment.DefaultCandidate()) != nullptr) {
    return std::make_unique<GreedyByMoves>(assignment, options);
  }
  return std::make_unique<GreedyByTrials>(assignment, options);
}

}  // namespace hone::optimizers
