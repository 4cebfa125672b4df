#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

#include "base/hash.h"
#include "base/status_macros.h"
#include "optimizers/batch_optimizer.h"
#include "optimizers/moves.h"
#include "optimizers/registry.h"
#include "space/composite_problem.h"

namespace hone::optimizers {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Trials of one part between two decisions which part comes next.
constexpr int32_t kTurn = 8;
// Turns over which the progress of a part counts.
constexpr size_t kWindow = 4;
// The weight of progress made, against that of progress which may come.
constexpr double kPast = 0.5;

// Divides the trials among the parts of a composite problem, each of which is
// searched by `beam` on its own while the others stay at the best known.
//
// The next turn goes to the part with the steepest expected descent: what its
// last turns gained, averaged with its cost divided by its turns so far, which
// assumes that a part can lose as much again in as many turns. So trials go
// where time is spent, and leave parts that make no progress. Every part begins
// with the cost of the default.
// Source: the task scheduler of Ansor, arXiv 2006.06762, section 6, without its
// term for similar tasks.
class Parts final : public BatchOptimizer {
 public:
  Parts(const space::CompositeProblem& problem, const OptimizerOptions& options)
      : BatchOptimizer(problem, options), problem_(problem), options_(options) {
    options_.start.clear();
  }

  absl::string_view name() const override { return "parts"; }

 private:
  struct Part {
    std::unique_ptr<Optimizer> search;
    space::Candidate best;
    double best_cost = kInfinity;
    // The best cost at the beginning of each turn.
    std::vector<double> turns;
    // Measurements known before the search, by candidate.
    absl::flat_hash_map<Hash128, space::Measurement> known;
    bool exhausted = false;
    int64_t trials = 0;
  };

  void Begin(absl::Span<const space::Trial> known) override {
    parts_ = std::vector<Part>(problem_.part_count());
    turn_.clear();
    tried_.clear();
    std::vector<std::vector<space::Candidate>> starts(parts_.size());
    for (const space::Trial& trial : known) {
      tried_.insert(HashOf(trial.candidate.choices));
      const auto candidates = problem_.Decompose(trial.candidate);
      if (!candidates.ok()) continue;
      for (size_t i = 0; i < parts_.size(); ++i) {
        const space::Candidate& candidate = (*candidates)[i];
        if (!Keep(i, candidate, trial.measurement)) continue;
        starts[i].push_back(candidate);
      }
    }
    for (size_t i = 0; i < parts_.size(); ++i) {
      OptimizerOptions options = options_;
      options.seed += 0x9e3779b97f4a7c15 * (i + 1);
      // The first is the default, which every search begins with.
      options.start = std::move(starts[i]);
      auto search = CreateOptimizer("beam", problem_.part(i), options);
      parts_[i].exhausted = !search.ok();
      if (search.ok()) parts_[i].search = *std::move(search);
    }
  }

  // Notes what a trial says about the candidate of part `i`; returns true if it
  // is new and has a cost.
  bool Keep(size_t i, const space::Candidate& candidate,
            const space::Measurement& measurement) {
    Part& part = parts_[i];
    const Hash128 hash = HashOf(candidate.choices);
    // Of a failed trial nobody knows which part failed.
    if (measurement.outcome != space::Outcome::kOk ||
        measurement.samples.size() != parts_.size()) {
      return false;
    }
    space::Measurement own;
    own.cost = measurement.samples[i];
    if (own.cost < part.best_cost) {
      part.best = candidate;
      part.best_cost = own.cost;
    }
    return part.known.try_emplace(hash, std::move(own)).second;
  }

  void Learn(const space::Trial& trial) override {
    // All parts at their best: nothing new of any.
    if (turn_.empty()) return;
    const auto [i, candidate] = std::move(turn_.front());
    turn_.pop_front();
    Part& part = parts_[i];
    ++part.trials;
    space::Trial own = {part.trials, candidate, trial.measurement};
    own.measurement.samples.clear();
    if (own.measurement.outcome == space::Outcome::kOk) {
      own.measurement.cost = trial.measurement.samples.size() == parts_.size()
                                 ? trial.measurement.samples[i]
                                 : kInfinity;
      Keep(i, candidate, trial.measurement);
    }
    part.search->Observe(own);
  }

  std::vector<space::Candidate> Plan() override {
    // The best parts may come from different trials at the beginning.
    std::vector<space::Candidate> all;
    all.reserve(parts_.size());
    for (const Part& part : parts_) all.push_back(part.best);
    space::Candidate best = problem_.Compose(all);
    if (tried_.insert(HashOf(best.choices)).second) return {std::move(best)};
    while (!stopped()) {
      const std::optional<size_t> next = SteepestPart();
      if (!next) return {};
      Part& part = parts_[*next];
      ObserveKnown(part);
      const std::vector<space::Candidate> candidates =
          part.search->Suggest(kTurn);
      if (candidates.empty()) {
        part.exhausted = true;
        continue;
      }
      part.turns.push_back(part.best_cost);
      std::vector<space::Candidate> batch;
      for (const space::Candidate& candidate : candidates) {
        all[*next] = candidate;
        batch.push_back(problem_.Compose(all));
        tried_.insert(HashOf(batch.back().choices));
        turn_.emplace_back(*next, candidate);
      }
      return batch;
    }
    return {};
  }

  // Tells the search of a part what needs no trial.
  static void ObserveKnown(Part& part) {
    for (;;) {
      const std::vector<space::Candidate> next = part.search->Suggest(1);
      if (next.empty()) return;
      const auto known = part.known.find(HashOf(next[0].choices));
      if (known == part.known.end()) return;
      part.search->Observe({part.trials++, next[0], known->second});
    }
  }

  std::optional<size_t> SteepestPart() const {
    std::optional<size_t> steepest;
    double most = -1;
    for (size_t i = 0; i < parts_.size(); ++i) {
      const Part& part = parts_[i];
      if (part.exhausted) continue;
      const auto turns = static_cast<double>(part.turns.size());
      double gained = 0;
      if (!part.turns.empty()) {
        const size_t window = std::min(kWindow, part.turns.size());
        gained = (part.turns[part.turns.size() - window] - part.best_cost) /
                 static_cast<double>(window);
      }
      // Infinite before the default is known.
      const double cost = std::isfinite(part.best_cost) ? part.best_cost : 0;
      const double slope = kPast * (std::isfinite(gained) ? gained : 0) +
                           (1 - kPast) * cost / (turns + 1);
      if (slope > most) {
        most = slope;
        steepest = i;
      }
    }
    return steepest;
  }

  const space::CompositeProblem& problem_;
  OptimizerOptions options_;
  std::vector<Part> parts_;
  // All candidates measured or proposed.
  absl::flat_hash_set<Hash128> tried_;
  // The part and its candidate of each candidate of the batch; empty while all
  // parts are at their best.
  std::deque<std::pair<size_t, space::Candidate>> turn_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> MakeParts(
    const space::Problem& problem, const OptimizerOptions& options) {
  return std::make_unique<Parts>(
      static_cast<const space::CompositeProblem&>(problem), options);
}

}  // namespace hone::optimizers
