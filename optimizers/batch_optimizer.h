#ifndef HONE_OPTIMIZERS_BATCH_OPTIMIZER_H_
#define HONE_OPTIMIZERS_BATCH_OPTIMIZER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "absl/types/span.h"

#include "base/rng.h"
#include "optimizers/optimizer.h"

namespace hone::optimizers {

// The base of optimizers that plan in batches: the candidates of a batch do not
// depend on each other's results, the next batch depends on all of them. The
// sizes of the caller's requests therefore do not change the proposals, so
// every search can be resumed after any trial. The first batch is the problem's
// seeds and options.start.
class BatchOptimizer : public Optimizer {
 public:
  std::vector<space::Candidate> Suggest(int32_t n) const final;
  void Observe(const space::Trial& trial) final;
  void Adopt(absl::Span<const space::Trial> log) final;

 protected:
  BatchOptimizer(const space::Problem& problem,
                 const OptimizerOptions& options);

  // Drops what it planned and starts from trials that are known already, never
  // none: those of the first batch, or of an earlier search.
  virtual void Begin(absl::Span<const space::Trial> known) = 0;
  // Receives the result of one candidate of a batch that Plan returned, in the
  // batch's order.
  virtual void Learn(const space::Trial& trial) = 0;
  // Returns the next batch, after Begin, and after Learn has received all of
  // the last one; empty if nothing is left to propose.
  virtual std::vector<space::Candidate> Plan() = 0;

  // The source of all randomness. Starts anew, differently, with each Begin.
  Rng& rng() { return rng_; }

  // OptimizerOptions::stop: true if planning is to end with what it has.
  bool stopped() const { return stop_ && stop_(); }

 private:
  void SetPlan();

  const uint64_t seed_;
  const std::function<bool()> stop_;
  const std::vector<space::Candidate> first_batch_;
  Rng rng_;
  std::deque<space::Candidate> pending_;
  // The trials to begin with, until those of the first batch are among them.
  std::vector<space::Trial> known_;
  bool begun_ = false;
};

// Returns the trial of the least rank, the first of equal ones. `trials` is not
// empty.
const space::Trial& BestOf(absl::Span<const space::Trial> trials);

}  // namespace hone::optimizers

#endif  // HONE_OPTIMIZERS_BATCH_OPTIMIZER_H_
