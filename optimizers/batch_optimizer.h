#ifndef HONE_OPTIMIZERS_BATCH_OPTIMIZER_H_
#define HONE_OPTIMIZERS_BATCH_OPTIMIZER_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "optimizers/optimizer.h"

namespace hone::optimizers {

// The frame of an optimizer that plans in batches: the candidates of a batch do
// not depend on each other's results, the next batch depends on all of them.
// How the caller cuts its requests therefore never changes what is proposed,
// which makes every search resumable after any trial. The first batch is the
// problem's default.
class BatchOptimizer : public Optimizer {
 public:
  std::vector<space::Candidate> Suggest(int32_t n) const final;
  void Observe(const space::Trial& trial) final;

 protected:
  explicit BatchOptimizer(const space::Problem& problem);

  // Takes in the result of one candidate of the batch, in the batch's order.
  virtual void Learn(const space::Trial& trial) = 0;
  // The next batch, after all of the last was learned; empty when there is
  // nothing left to propose.
  virtual std::vector<space::Candidate> Plan() = 0;

 private:
  std::deque<space::Candidate> pending_;
};

}  // namespace hone::optimizers

#endif  // HONE_OPTIMIZERS_BATCH_OPTIMIZER_H_
