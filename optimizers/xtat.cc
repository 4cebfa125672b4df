#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

#include "base/clock.h"
#include "base/status_macros.h"
#include "optimizers/batch_optimizer.h"
#include "optimizers/moves.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "space/assignment_problem.h"
#include "space/surrogate.h"

namespace hone::optimizers {
namespace {

// The assignments up to which the model judges all of them.
constexpr double kSmallSpace = 1 << 14;
// Measured candidates that the proposers start from.
constexpr size_t kStarts = 8;
// Where changes are evaluated incrementally (LocalState), so many tries count
// as one prediction.
constexpr int64_t kTriesPerPrediction = 8;

// The cost, as a share, that is assumed of a candidate beyond what is predicted
// if all its actions are those of one that is measured with it.
constexpr double kLikeness = 0.1;

// Returns the share of actions that two sequences have in common, in 0 to 1
// (Jaccard index).
double SharedActions(const space::Candidate& a, const space::Candidate& b) {
  const absl::flat_hash_set<int32_t> of_a(a.choices.begin(), a.choices.end());
  const absl::flat_hash_set<int32_t> of_b(b.choices.begin(), b.choices.end());
  size_t common = 0;
  for (const int32_t action : of_a) common += of_b.contains(action) ? 1U : 0U;
  const size_t all = of_a.size() + of_b.size() - common;
  return all == 0 ? 1 : static_cast<double>(common) / static_cast<double>(all);
}

// A proposer, and the candidates that the model judges for it.
struct Proposer {
  std::string id;
  int64_t predictions = 0;
};

// Returns the proposers of the options, or the usual ones. `problem` is the
// surrogate's.
std::vector<Proposer> ProposersFor(const space::Problem& problem,
                                   const OptimizerOptions& options) {
  if (!options.proposer.empty()) {
    return {{options.proposer, options.predictions}};
  }
  const int64_t half = std::max<int64_t>(options.predictions / 2, 1);
  const auto* const assignment = problem.assignment();
  if (assignment == nullptr) return {{"beam", half}, {"annealing", half}};
  double size = 1;
  for (const space::VariableGroup& group : assignment->groups()) {
    size *= std::pow(group.domain, group.count);
  }
  if (size <= kSmallSpace) {
    return {{"exhaustive", static_cast<int64_t>(kSmallSpace)}};
  }
  if (assignment->MakeLocal(assignment->DefaultCandidate()) != nullptr) {
    // By incremental tries, of which there are many more than whole candidates
    // that another proposer could have judged.
    return {{"annealing", options.predictions}};
  }
  return {{"genetic", half}, {"annealing", half}};
}

// Model-guided search: other optimizers search the problem's surrogate, the
// candidates that they find best and that were not measured yet are measured, a
// few at a time, and the surrogate learns from the measurements.
// Source: Phothilimthana et al., "A Flexible Approach to Autotuning
// Multi-Pass Machine Learning Compilers" (XTAT), 2021, where the best 10
// (graph level) or 5 (kernel level) of a model run on hardware; to learn while
// tuning is ours.
class Xtat final : public BatchOptimizer {
 public:
  Xtat(const space::Problem& problem, const OptimizerOptions& options,
       std::unique_ptr<space::Surrogate> surrogate,
       std::vector<Proposer> proposers)
      : BatchOptimizer(problem, options),
        options_(options),
        surrogate_(std::move(surrogate)),
        proposers_(std::move(proposers)) {}

  absl::string_view name() const override { return "xtat"; }
  // To propose takes far longer than what is measured meanwhile.
  bool replays() const override { return false; }
  // What was measured by then is worth more than an error.
  absl::Status status() const override {
    return batches_ > 1 ? absl::OkStatus() : status_;
  }

 private:
  // A candidate that the model has judged.
  struct Judged {
    space::Candidate candidate;
    double cost = 0;
  };

  void Begin(absl::Span<const space::Trial> known) override {
    measured_.clear();
    best_.clear();
    batches_ = 0;
    for (const space::Trial& trial : known) Learn(trial);
  }

  void Learn(const space::Trial& trial) override {
    const Hash128 hash = HashOf(trial.candidate.choices);
    measured_.insert(hash);
    // Adopted again, after it was learned from.
    if (learned_.insert(hash).second) fresh_.push_back(trial);
    const auto is_better = [](const space::Trial& a, const space::Trial& b) {
      return space::RankOf(a.measurement) < space::RankOf(b.measurement);
    };
    best_.insert(std::upper_bound(best_.begin(), best_.end(), trial, is_better),
                 trial);
    if (best_.size() > kStarts) best_.pop_back();
  }

  std::vector<space::Candidate> Plan() override {
    if (options_.refresh > 0 && batches_ % options_.refresh == 0) {
      surrogate_->Learn(fresh_);
      fresh_.clear();
    }
    ++batches_;
    std::vector<Judged> judged;
    for (const Proposer& proposer : proposers_) {
      status_ = Propose(proposer, judged);
      if (!status_.ok() || stopped()) break;
    }
    return Shortlist(std::move(judged));
  }

  // Adds what a search of the surrogate judges.
  absl::Status Propose(const Proposer& proposer, std::vector<Judged>& judged) {
    OptimizerOptions options;
    options.seed = rng().Next();
    options.stop = options_.stop;
    for (const space::Trial& trial : best_) {
      options.start.push_back(trial.candidate);
    }
    HONE_ASSIGN_OR_RETURN(
        const std::unique_ptr<Optimizer> search,
        CreateOptimizer(proposer.id, surrogate_->problem(), options));
    SearchOptions run;
    run.stop = options_.stop;
    run.on_trial = [&](const space::Trial& trial) {
      const double cost = space::EffectiveCost(trial.measurement);
      if (std::isfinite(cost)) judged.push_back({trial.candidate, cost});
      return absl::OkStatus();
    };
    run.batch_size = std::max(surrogate_->problem().measurement_batch(), 16);
    return RunSearch(
               surrogate_->problem(), *search,
               {.trials = proposer.predictions,
                .evaluations = kTriesPerPrediction * proposer.predictions},
               SystemClock(), run)
        .status();
  }

  // Returns the top_k of what was judged. Candidates that the model cannot tell
  // apart are likely the same: of these, one before any second.
  std::vector<space::Candidate> Shortlist(std::vector<Judged> judged) {
    std::stable_sort(
        judged.begin(), judged.end(),
        [](const Judged& a, const Judged& b) { return a.cost < b.cost; });
    absl::flat_hash_set<double> costs;
    for (const Judged& one : judged) {
      if (measured_.contains(HashOf(one.candidate.choices))) {
        costs.insert(one.cost);
      }
    }
    // Those to choose from, best first: distinct ones before the others.
    std::vector<const Judged*> distinct;
    std::vector<const Judged*> others;
    absl::flat_hash_set<Hash128> listed;
    for (const Judged& one : judged) {
      const Hash128 hash = HashOf(one.candidate.choices);
      if (measured_.contains(hash) || !listed.insert(hash).second) continue;
      (costs.insert(one.cost).second ? distinct : others).push_back(&one);
    }
    const auto top_k = static_cast<size_t>(options_.top_k);
    std::vector<space::Candidate> shortlist = ChooseUnlike(distinct);
    for (size_t i = 0; i < others.size() && shortlist.size() < top_k; ++i) {
      shortlist.push_back(others[i]->candidate);
    }
    return shortlist;
  }

  // Returns the top_k of `ranked`, best first, where of a sequence that has
  // much in common with one chosen before, a higher cost is assumed: they would
  // likely fail together.
  std::vector<space::Candidate> ChooseUnlike(
      absl::Span<const Judged* const> ranked) const {
    std::vector<space::Candidate> chosen;
    // The share that each has in common with the most similar one chosen.
    std::vector<double> shared(ranked.size(), 0);
    std::vector<bool> taken(ranked.size(), false);
    const bool is_sequence = surrogate_->problem().sequential() != nullptr;
    while (chosen.size() <
               std::min(ranked.size(), static_cast<size_t>(options_.top_k)) &&
           !stopped()) {
      size_t best = ranked.size();
      double least = std::numeric_limits<double>::infinity();
      for (size_t i = 0; i < ranked.size(); ++i) {
        if (ranked[i]->cost >= least) break;
        const double cost = ranked[i]->cost * (1 + kLikeness * shared[i]);
        if (!taken[i] && cost < least) {
          least = cost;
          best = i;
        }
      }
      taken[best] = true;
      chosen.push_back(ranked[best]->candidate);
      if (!is_sequence) continue;
      for (size_t i = 0; i < ranked.size(); ++i) {
        shared[i] = std::max(
            shared[i], SharedActions(ranked[i]->candidate, chosen.back()));
      }
    }
    return chosen;
  }

  const OptimizerOptions options_;
  const std::unique_ptr<space::Surrogate> surrogate_;
  const std::vector<Proposer> proposers_;
  // All candidates that were measured.
  absl::flat_hash_set<Hash128> measured_;
  // The best of them, best first.
  std::vector<space::Trial> best_;
  // What the surrogate has learned from, or is yet to: `fresh_`.
  absl::flat_hash_set<Hash128> learned_;
  std::vector<space::Trial> fresh_;
  int64_t batches_ = 0;
  // What the last search of the surrogate ended with.
  absl::Status status_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> MakeXtat(
    const space::Problem& problem, const OptimizerOptions& options) {
  if (options.top_k < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("top_k ", options.top_k, ", expected 1 or more"));
  }
  if (options.refresh < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("refresh ", options.refresh, ", expected 0 or more"));
  }
  if (options.predictions < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "predictions ", options.predictions, ", expected 1 or more"));
  }
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<space::Surrogate> surrogate,
                        problem.MakeSurrogate());
  if (surrogate == nullptr) {
    return absl::InvalidArgumentError(
        "optimizer 'xtat': no cost model predicts this problem, expected a "
        "problem with one");
  }
  std::vector<Proposer> proposers = ProposersFor(surrogate->problem(), options);
  for (const Proposer& proposer : proposers) {
    if (proposer.id == "xtat") {
      return absl::InvalidArgumentError(
          "proposer 'xtat' of optimizer 'xtat', expected another optimizer");
    }
    HONE_RETURN_IF_ERROR(
        CreateOptimizer(proposer.id, surrogate->problem(), {}).status());
  }
  return std::make_unique<Xtat>(problem, options, std::move(surrogate),
                                std::move(proposers));
}

}  // namespace hone::optimizers
