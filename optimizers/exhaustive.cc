#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"

#include "optimizers/batch_optimizer.h"
#include "optimizers/moves.h"
#include "optimizers/registry.h"
#include "space/assignment_problem.h"

namespace hone::optimizers {
namespace {

// The assignments of a batch.
constexpr size_t kTogether = 64;

// All assignments that satisfy the constraints, in lexicographic order, each
// once. For small spaces, and as the judge of other searches.
class Exhaustive final : public BatchOptimizer {
 public:
  Exhaustive(const space::AssignmentProblem& problem,
             const OptimizerOptions& options)
      : BatchOptimizer(problem, options),
        domains_(problem.MakeDomains()),
        variables_(problem.variable_count()) {}

  absl::string_view name() const override { return "exhaustive"; }

 private:
  // A variable that has a value, and the values that it has yet to try.
  struct Level {
    int32_t mark = 0;
    uint64_t left = 0;
  };

  void Begin(absl::Span<const space::Trial> known) override {
    if (!levels_.empty()) domains_->Undo(levels_.front().mark);
    levels_.clear();
    known_.clear();
    for (const space::Trial& trial : known) {
      known_.insert(HashOf(trial.candidate.choices));
    }
    ended_ = false;
  }

  void Learn(const space::Trial&) override {}

  std::vector<space::Candidate> Plan() override {
    std::vector<space::Candidate> batch;
    while (batch.size() < kTogether && !ended_ && !stopped()) {
      ended_ = !Next();
      if (ended_) break;
      space::Candidate candidate;
      for (int32_t v = 0; v < variables_; ++v) {
        candidate.choices.push_back(
            static_cast<int32_t>(std::countr_zero(domains_->Get(v))));
      }
      if (known_.contains(HashOf(candidate.choices))) continue;
      batch.push_back(std::move(candidate));
    }
    return batch;
  }

  // Goes to the next assignment; returns false after the last.
  bool Next() {
    // A problem without variables has one assignment.
    if (variables_ == 0) return std::exchange(is_first_, false);
    if (levels_.empty()) {
      Open();
    }
    for (;;) {
      if (levels_.empty()) return false;
      if (!Advance()) {
        domains_->Undo(levels_.back().mark);
        levels_.pop_back();
        continue;
      }
      if (std::ssize(levels_) == variables_) return true;
      Open();
    }
  }

  // Begins with the values of the next variable.
  void Open() {
    const auto variable = static_cast<int32_t>(levels_.size());
    levels_.push_back({domains_->Mark(), domains_->Get(variable)});
  }

  // Gives the last variable its next value; returns false if none is left.
  bool Advance() {
    Level& level = levels_.back();
    const auto variable = static_cast<int32_t>(levels_.size() - 1);
    while (level.left != 0) {
      domains_->Undo(level.mark);
      const uint64_t value = level.left & -level.left;
      level.left ^= value;
      if (domains_->Narrow(variable, value)) return true;
    }
    return false;
  }

  const std::unique_ptr<space::Domains> domains_;
  const int32_t variables_;
  // Of the first variables, in order.
  std::vector<Level> levels_;
  absl::flat_hash_set<Hash128> known_;
  bool is_first_ = true;
  bool ended_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> MakeExhaustive(
    const space::Problem& problem, const OptimizerOptions& options) {
  return std::make_unique<Exhaustive>(*problem.assignment(), options);
}

}  // namespace hone::optimizers
