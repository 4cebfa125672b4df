#include "optimizers/batch_optimizer.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace hone::optimizers {

BatchOptimizer::BatchOptimizer(const space::Problem& problem)
    : pending_{problem.DefaultCandidate()} {}

std::vector<space::Candidate> BatchOptimizer::Suggest(int32_t n) const {
  const size_t count = std::min(static_cast<size_t>(n), pending_.size());
  return {pending_.begin(),
          pending_.begin() + static_cast<std::ptrdiff_t>(count)};
}

void BatchOptimizer::Observe(const space::Trial& trial) {
  HONE_CHECK(!pending_.empty() && trial.candidate == pending_.front());
  pending_.pop_front();
  Learn(trial);
  if (!pending_.empty()) return;
  std::vector<space::Candidate> batch = Plan();
  pending_.assign(std::make_move_iterator(batch.begin()),
                  std::make_move_iterator(batch.end()));
}

}  // namespace hone::optimizers
