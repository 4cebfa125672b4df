#include "optimizers/separable.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/status_macros.h"

namespace hone::optimizers {
namespace {

// The measurement of part `i` in that of a whole candidate.
space::Measurement OfPart(const space::Measurement& whole, size_t parts,
                          size_t i) {
  space::Measurement own = whole;
  own.samples.clear();
  // Measured as a whole, or not at all: nobody knows which part failed.
  if (whole.samples.size() != parts) return own;
  const double sample = whole.samples[i];
  own.outcome = sample < 0 ? space::Outcome::kInvalid : space::Outcome::kOk;
  own.cost = std::max(sample, 0.0);
  own.violation = sample < 0 && std::isfinite(sample) ? -sample : 0;
  return own;
}

class SeparableSearch final : public Optimizer {
 public:
  // One part and its search.
  struct Part {
    std::unique_ptr<Optimizer> search;
    size_t first = 0;  // variable
    size_t count = 0;  // of variables
    space::Candidate best;
    space::Rank best_rank = {std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::infinity()};
    int64_t trials = 0;
  };

  SeparableSearch(absl::string_view name, std::vector<Part> parts)
      : name_(name), parts_(std::move(parts)) {}

  absl::string_view name() const override { return name_; }

  bool replays() const override {
    return std::all_of(parts_.begin(), parts_.end(),
                       [](const Part& part) { return part.search->replays(); });
  }

  // Parts that go on are worth more than an error of another.
  absl::Status status() const override {
    absl::Status first;
    for (const Part& part : parts_) {
      const absl::Status own = part.search->status();
      if (own.ok()) return own;
      if (first.ok()) first = own;
    }
    return first;
  }

  std::vector<space::Candidate> Suggest(int32_t n) const override {
    std::vector<std::vector<space::Candidate>> proposals;
    // As many as every search has that is not at its end, so that a larger
    // request is answered no differently.
    size_t count = 0;
    for (const Part& part : parts_) {
      proposals.push_back(part.search->Suggest(n));
      const size_t size = proposals.back().size();
      if (size > 0) count = count == 0 ? size : std::min(count, size);
    }
    std::vector<space::Candidate> candidates(count);
    for (size_t c = 0; c < count; ++c) {
      std::vector<int32_t>& choices = candidates[c].choices;
      for (size_t i = 0; i < parts_.size(); ++i) {
        const std::vector<int32_t>& own = proposals[i].empty()
                                              ? parts_[i].best.choices
                                              : proposals[i][c].choices;
        choices.insert(choices.end(), own.begin(), own.end());
      }
    }
    return candidates;
  }

  void Observe(const space::Trial& trial) override {
    for (size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      const space::Trial own = TrialOf(i, trial);
      Keep(part, own);
      if (!part.search->Suggest(1).empty()) part.search->Observe(own);
    }
  }

  void Adopt(absl::Span<const space::Trial> log) override {
    for (size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      std::vector<space::Trial> own;
      part.trials = 0;
      for (const space::Trial& trial : log) {
        own.push_back(TrialOf(i, trial));
        Keep(part, own.back());
      }
      part.search->Adopt(own);
    }
  }

 private:
  space::Trial TrialOf(size_t i, const space::Trial& trial) {
    Part& part = parts_[i];
    const auto begin = trial.candidate.choices.begin() +
                       static_cast<std::ptrdiff_t>(part.first);
    return {part.trials++,
            {{begin, begin + static_cast<std::ptrdiff_t>(part.count)}},
            OfPart(trial.measurement, parts_.size(), i)};
  }

  static void Keep(Part& part, const space::Trial& trial) {
    const space::Rank rank = space::RankOf(trial.measurement);
    if (!part.best.choices.empty() && !(rank < part.best_rank)) return;
    part.best = trial.candidate;
    part.best_rank = rank;
  }

  const absl::string_view name_;
  std::vector<Part> parts_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> MakeSeparableSearch(
    const OptimizerInfo& info, const space::SeparableProblem& problem,
    const OptimizerOptions& options) {
  std::vector<SeparableSearch::Part> parts(problem.part_count());
  size_t first = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const space::AssignmentProblem& part = problem.part(i);
    parts[i].first = first;
    parts[i].count = static_cast<size_t>(part.variable_count());
    OptimizerOptions own = options;
    own.seed += 0x9e3779b97f4a7c15 * i;
    for (space::Candidate& start : own.start) {
      const auto begin =
          start.choices.begin() + static_cast<std::ptrdiff_t>(first);
      start.choices = std::vector<int32_t>(
          begin, begin + static_cast<std::ptrdiff_t>(parts[i].count));
    }
    HONE_ASSIGN_OR_RETURN(parts[i].search, CreateOptimizer(info, part, own));
    first += parts[i].count;
  }
  return std::make_unique<SeparableSearch>(info.id, std::move(parts));
}

}  // namespace hone::optimizers
