#include "optimizers/batch_optimizer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace hone::optimizers {
namespace {

std::vector<space::Candidate> FirstBatch(const space::Problem& problem,
                                         const OptimizerOptions& options) {
  std::vector<space::Candidate> batch;
  const auto add = [&](const space::Candidate& candidate) {
    if (std::find(batch.begin(), batch.end(), candidate) == batch.end()) {
      batch.push_back(candidate);
    }
  };
  for (const space::Seed& seed : problem.Seeds()) add(seed.candidate);
  for (const space::Candidate& candidate : options.start) add(candidate);
  return batch;
}

}  // namespace

BatchOptimizer::BatchOptimizer(const space::Problem& problem,
                               const OptimizerOptions& options)
    : seed_(options.seed),
      stop_(options.stop),
      first_batch_(FirstBatch(problem, options)),
      rng_(options.seed),
      pending_(first_batch_.begin(), first_batch_.end()) {}

std::vector<space::Candidate> BatchOptimizer::Suggest(int32_t n) const {
  const size_t count = std::min(static_cast<size_t>(n), pending_.size());
  return {pending_.begin(),
          pending_.begin() + static_cast<std::ptrdiff_t>(count)};
}

void BatchOptimizer::Observe(const space::Trial& trial) {
  HONE_CHECK(!pending_.empty() && trial.candidate == pending_.front());
  pending_.pop_front();
  if (begun_) {
    Learn(trial);
  } else {
    known_.push_back(trial);
  }
  if (!pending_.empty()) return;
  if (!std::exchange(begun_, true)) {
    Begin(known_);
    known_ = {};
  }
  SetPlan();
}

void BatchOptimizer::Adopt(absl::Span<const space::Trial> log) {
  // Not what was drawn in the search before.
  rng_ = Rng(seed_ + 0x9e3779b97f4a7c15 * log.size());
  // What the log lacks of the first batch comes before anything else: it may
  // have ended in the middle, or seeds be new.
  pending_.clear();
  for (const space::Candidate& candidate : first_batch_) {
    const bool is_known =
        std::any_of(log.begin(), log.end(), [&](const space::Trial& trial) {
          return trial.candidate == candidate;
        });
    if (!is_known) pending_.push_back(candidate);
  }
  begun_ = pending_.empty();
  if (!begun_) {
    known_.assign(log.begin(), log.end());
    return;
  }
  known_ = {};
  Begin(log);
  SetPlan();
}

void BatchOptimizer::SetPlan() {
  std::vector<space::Candidate> batch = Plan();
  pending_.assign(std::make_move_iterator(batch.begin()),
                  std::make_move_iterator(batch.end()));
}

const space::Trial& BestOf(absl::Span<const space::Trial> trials) {
  return *std::min_element(trials.begin(), trials.end(),
                           [](const space::Trial& a, const space::Trial& b) {
                             return space::RankOf(a.measurement) <
                                    space::RankOf(b.measurement);
                           });
}

}  // namespace hone::optimizers
