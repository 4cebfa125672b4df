#ifndef HONE_OPTIMIZERS_BATCH_OPTIMIZER_H_
#define HONE_OPTIMIZERS_BATCH_OPTIMIZER_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "optimizers/optimizer.h"

namespace hone::optimizers {

// The base of optimizers that plan in batches: the candidates of a batch do not
// depend on each other's results, the next batch depends on all of them. The
// sizes of the caller's requests therefore do not change the proposals, so
// every search can be resumed after any trial. The first batch is the problem's
// default.
class BatchOptimizer : public Optimizer {
 public:
  std::vector<space::Candidate> Suggest(int32_t n) const final;
  void Observe(const space::Trial& trial) final;

 protected:
  explicit BatchOptimizer(const space::Problem& problem);

  // Receives the result of one candidate of the batch, in the batch's order.
  virtual void Learn(const space::Trial& trial) = 0;
  // Returns the next batch, after Learn has received all of the last one; empty
  // if nothing is left to propose.
  virtual std::vector<space::Candidate> Plan() = 0;

 private:
  std::deque<space::Candidate> pending_;
};

}  // namespace hone::optimizers

#endif  // HONE_OPTIMIZERS_BATCH_OPTIMIZER_H_
