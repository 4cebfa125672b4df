#ifndef HONE_OPTIMIZERS_OPTIMIZER_H_
#define HONE_OPTIMIZERS_OPTIMIZER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "space/problem.h"
#include "space/trial.h"

namespace hone::optimizers {

struct OptimizerOptions {
  uint64_t seed = 0;
  // beam, guided: states kept per depth.
  int32_t beam_width = 8;
  // policy, finetune, guided: the file of the weights; empty for the weights
  // that come with Hone for the problem, if any.
  std::string weights = {};
  // policy, guided: no weights, all actions are equally likely. The control
  // that shows the value of the weights.
  bool uniform_prior = false;
};

// A search algorithm with an ask/tell interface.
//
// Determinism: Suggest depends on the problem, the options and the trials
// observed so far, in order. A search is resumed by observing the logged trials
// again, and the same seed gives the same trace.
// Threads: not thread-safe.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // The stable id, as in optimizers.def.
  virtual absl::string_view name() const = 0;

  // Returns at most `n` (≥ 1) candidates to measure next: fewer if the
  // algorithm needs their results first, none if nothing is left to propose.
  // Does not change state: repeated before an Observe, it returns the same.
  virtual std::vector<space::Candidate> Suggest(int32_t n) const = 0;

  // Receives the result of a suggested candidate, in the order suggested.
  virtual void Observe(const space::Trial& trial) = 0;
};

}  // namespace hone::optimizers

#endif  // HONE_OPTIMIZERS_OPTIMIZER_H_
