#ifndef HONE_OPTIMIZERS_OPTIMIZER_H_
#define HONE_OPTIMIZERS_OPTIMIZER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "space/problem.h"
#include "space/trial.h"

namespace hone::optimizers {

struct OptimizerOptions {
  uint64_t seed = 0;
  // zero_shot, policy, finetune, guided: the file of the weights; empty for the
  // weights that come with Hone for the problem, if any. ppo: the same, but
  // empty for random weights.
  std::string weights = {};
  // zero_shot, policy, guided: no weights, all actions are equally likely. The
  // control that shows the value of the weights.
  bool uniform_prior = false;
  // policy of problems that describe their moves: no weights, moves are drawn
  // by AssignmentProblem::EstimateMove alone. The control that shows what
  // learning adds to what is known of a move.
  bool estimated_prior = false;
  // Learned optimizers of problems that describe their moves: draws whole
  // assignments through the constraints, as for other problems, not moves.
  bool whole_draws = false;
  // Learned optimizers of problems that describe their moves: leaves out
  // AssignmentProblem::EstimateMove, so that weights alone say what is good.
  bool without_estimate = false;
  // Learned optimizers of problems that describe their moves: the most moves
  // that are decided at once, without regard to each other; 1 or more.
  int32_t moves_per_try = 1;
  // xtat: the number of candidates that are measured at a time, those that the
  // model likes best; 1 or more.
  int32_t top_k = 5;
  // xtat: the model learns from what was measured after every `refresh` such
  // batches; 0: never.
  int32_t refresh = 1;
  // xtat: the optimizer that proposes with the model as judge; empty:
  // exhaustive in small spaces, annealing where that is incremental, else it
  // and one more.
  std::string proposer = {};
  // xtat: the candidates that the model judges for one batch, of all proposers;
  // 1 or more. Of a small space all are judged, whatever this is.
  int64_t predictions = 2048;
  // Candidates of earlier searches that this one measures again after the
  // seeds. annealing, greedy, beam, genetic and the learned optimizers of
  // assignments go on from them; the learned optimizers of sequences only do
  // not propose them again; random may, and `default` leaves them out.
  std::vector<space::Candidate> start = {};
  // Polled between the steps of planning where many may come before the next
  // trial (annealing, greedy, genetic, the learned ones): once it returns true,
  // planning ends with what it has. Null: never.
  std::function<bool()> stop = nullptr;
};

// A search algorithm with an ask/tell interface.
//
// The first candidates are the problem's seeds and options.start (`default`:
// the default alone).
//
// Determinism: Suggest depends on the problem, the options and the trials
// observed so far, in order. A search is resumed by observing the logged trials
// again where that repeats it cheaply (replays), else from what they found
// (Adopt); the same seed gives the same trace.
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

  // Drops what it planned and goes on from `log`, the trials of a search from
  // its first one: of this optimizer, with other weights or on another machine,
  // or of any other. Not empty. First candidates that the log lacks come next.
  // What was learned from trials observed before may stay.
  virtual void Adopt(absl::Span<const space::Trial> log) = 0;

  // Returns false if Observe does much work between trials that is in no trial,
  // so that a search is better resumed by Adopt than by repeating it.
  virtual bool replays() const { return true; }

  // Returns why Suggest has nothing more, if it is not that nothing is left.
  virtual absl::Status status() const { return absl::OkStatus(); }
};

}  // namespace hone::optimizers

#endif  // HONE_OPTIMIZERS_OPTIMIZER_H_
