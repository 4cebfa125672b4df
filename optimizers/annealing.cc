#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "optimizers/batch_optimizer.h"
#include "optimizers/moves.h"
#include "optimizers/registry.h"
#include "optimizers/schedule.h"

namespace hone::optimizers {
namespace {

// Returns the difference of two ranks as one number. Violations count as many
// times the cost of the worse, so that a search leaves them first.
double Worsening(const space::Rank& from, const space::Rank& to) {
  constexpr double kViolationWeight = 10;
  if (std::isinf(to.violation))
    return std::isinf(from.violation) ? 0 : INFINITY;
  if (std::isinf(from.violation)) return -INFINITY;
  const double unit = kViolationWeight * std::max({from.cost, to.cost, 1e-300});
  return to.cost - from.cost + unit * (to.violation - from.violation);
}

// Simulated annealing by random edits, from the best candidate known. Each edit
// is a trial.
class AnnealingByTrials final : public BatchOptimizer {
 public:
  AnnealingByTrials(const space::Problem& problem,
                    const OptimizerOptions& options)
      : BatchOptimizer(problem, options), problem_(problem), editor_(problem) {}

  absl::string_view name() const override { return "annealing"; }

 private:
  struct Point {
    std::vector<int32_t> choices;
    space::Rank rank;
  };

  void Begin(absl::Span<const space::Trial> known) override {
    schedule_ = CoolingSchedule(kFirstCycle);
    const space::Trial& best = BestOf(known);
    MoveTo(best);
    best_ = current_;
  }

  void Learn(const space::Trial& trial) override {
    const space::Rank rank = space::RankOf(trial.measurement);
    if (schedule_.Accepts(Worsening(current_.rank, rank), rng())) MoveTo(trial);
    if (rank < best_.rank) best_ = {trial.candidate.choices, rank};
    if (schedule_.Advance()) current_ = best_;
  }

  void MoveTo(const space::Trial& trial) {
    current_ = {trial.candidate.choices, space::RankOf(trial.measurement)};
    if (const auto* sequential = problem_.sequential()) {
      Path path = Follow(*sequential, current_.choices);
      // A candidate that fails has no path.
      if (path.state != nullptr) current_.choices = std::move(path.actions);
    }
  }

  std::vector<space::Candidate> Plan() override {
    return {{editor_.Perturb(current_.choices, rng())}};
  }

  static constexpr int64_t kFirstCycle = 64;

  const space::Problem& problem_;
  Editor editor_;
  CoolingSchedule schedule_{kFirstCycle};
  Point current_;
  Point best_;
};

// Simulated annealing by the problem's own moves, evaluated incrementally. A
// trial is the best assignment of many tries.
class AnnealingByMoves final : public BatchOptimizer {
 public:
  AnnealingByMoves(const space::AssignmentProblem& problem,
                   const OptimizerOptions& options)
      : BatchOptimizer(problem, options), problem_(problem) {}

  absl::string_view name() const override { return "annealing"; }
  bool replays() const override { return false; }

 private:
  // Tries before a trial, at least and at most; between them a 32nd of those
  // made so far, so that a search oversteps its budget by no more.
  static constexpr int64_t kLeastTries = 1;
  static constexpr int64_t kMostTries = 20'000;
  // Tries may be expensive, or cheaper than asking for the time.
  static constexpr int64_t kTriesPerPoll = 16;
  // Proposals without a change, one after the other, after which there is
  // nothing to change.
  static constexpr int kMaxFruitless = 64;

  void Begin(absl::Span<const space::Trial> known) override {
    schedule_ = CoolingSchedule(kFirstMoveCycle, /*alternates=*/true);
    tries_ = 0;
    const space::Trial& best = BestOf(known);
    best_ = best.candidate.choices;
    best_rank_ = space::RankOf(best.measurement);
    state_ = problem_.MakeLocal(best.candidate);
  }

  void Learn(const space::Trial&) override {}

  std::vector<space::Candidate> Plan() override {
    const int64_t count = std::clamp(tries_ / 32, kLeastTries, kMostTries);
    // The best of these tries.
    std::vector<int32_t> found;
    space::Rank found_rank;
    std::vector<space::Change> changes;
    for (int64_t i = 0; i < count; ++i) {
      for (int draw = 0; draw < kMaxFruitless; ++draw) {
        state_->Propose(rng(), changes);
        if (!changes.empty()) break;
      }
      if (changes.empty()) break;
      const space::LocalScore before = state_->score();
      const space::LocalScore after = state_->Try(changes);
      // Among feasible assignments by energy, which tells more than the cost.
      const double worsening = before.rank.violation == after.rank.violation
                                   ? after.energy - before.energy
                                   : Worsening(before.rank, after.rank);
      if (schedule_.Accepts(worsening, rng())) {
        state_->Commit();
        if (found.empty() || after.rank < found_rank) {
          found.assign(state_->values().begin(), state_->values().end());
          found_rank = after.rank;
        }
      }
      if (schedule_.Advance()) Restart(found, found_rank);
      if (i % kTriesPerPoll == 0 && stopped()) break;
    }
    tries_ += count;
    if (changes.empty() && found.empty()) return {};
    if (found.empty()) {
      found.assign(state_->values().begin(), state_->values().end());
      found_rank = state_->score().rank;
    }
    KeepBest(found, found_rank);
    return {{std::move(found)}};
  }

  void KeepBest(const std::vector<int32_t>& found, const space::Rank& rank) {
    if (!(rank < best_rank_)) return;
    best_ = found;
    best_rank_ = rank;
  }

  void Restart(const std::vector<int32_t>& found, const space::Rank& rank) {
    if (!found.empty()) KeepBest(found, rank);
    state_ = problem_.MakeLocal({best_});
  }

  const space::AssignmentProblem& problem_;
  CoolingSchedule schedule_{kFirstMoveCycle, /*alternates=*/true};
  std::unique_ptr<space::LocalState> state_;
  std::vector<int32_t> best_;
  space::Rank best_rank_;
  int64_t tries_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> MakeAnnealing(
    const space::Problem& problem, const OptimizerOptions& options) {
  const auto* assignment = problem.assignment();
  if (assignment != nullptr &&
      assignment->MakeLocal(assignment->DefaultCandidate()) != nullptr) {
    return std::make_unique<AnnealingByMoves>(*assignment, options);
  }
  return std::make_unique<AnnealingByTrials>(problem, options);
}

}  // namespace hone::optimizers
