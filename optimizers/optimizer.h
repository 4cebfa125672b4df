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
  // policy, finetune, guided: the file of the weights; empty for those that
  // come with Hone for the problem, or none.
  std::string weights = {};
  // policy, guided: no weights, every action is as likely as another; the
  // control that tells what the weights are worth.
  bool uniform_prior = false;
};

// A search algorithm, ask and tell.
//
// Determinism: what Suggest returns depends on the problem, the options and the
// trials observed so far, in order. So a search is resumed by observing the
// logged trials again, and the same seed gives the same trace.
// Threads: not thread-safe.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // The stable id; equals its line in optimizers.def.
  virtual absl::string_view name() const = 0;

  // At most `n` (≥ 1) candidates to be measured next; they may be fewer where
  // the algorithm needs their results first, and none when it has nothing left
  // to propose. Does not change state: asked again before an Observe, it gives
  // the same answer.
  virtual std::vector<space::Candidate> Suggest(int32_t n) const = 0;

  // Takes in the result of a suggested candidate, in the order suggested.
  virtual void Observe(const space::Trial& trial) = 0;
};

}  // namespace hone::optimizers

#endif  // HONE_OPTIMIZERS_OPTIMIZER_H_
