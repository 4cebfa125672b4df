#ifndef HONE_OPTIMIZERS_CLEANUP_H_
#define HONE_OPTIMIZERS_CLEANUP_H_

#include <cstddef>
#include <optional>

#include "space/sequential_problem.h"
#include "space/trial.h"

namespace hone::optimizers {

// Takes the actions out of a sequence that its cost does not need, one after
// the other, so that a published decision is short.
class Cleanup {
 public:
  // `best` is an ok trial of `problem`, which outlives this.
  Cleanup(const space::SequentialProblem& problem, const space::Trial& best);

  // The candidate to measure next, absent when nothing is left to try. The
  // same until it is observed.
  const std::optional<space::Candidate>& next() const { return next_; }
  void Observe(const space::Measurement& measurement);

 private:
  // Proposes the best without the last action that was not tried yet and that
  // the others do not need to be legal.
  void Propose();

  const space::SequentialProblem& problem_;
  space::Candidate best_;
  double cost_ = 0;
  // The number of actions of best_, from its beginning, that were not tried.
  std::size_t untried_ = 0;
  std::optional<space::Candidate> next_;
};

}  // namespace hone::optimizers

#endif  // HONE_OPTIMIZERS_CLEANUP_H_
