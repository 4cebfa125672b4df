#ifndef HONE_SPACE_PROBLEM_H_
#define HONE_SPACE_PROBLEM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "space/measurement.h"
#include "space/observation.h"
#include "space/surrogate.h"
#include "space/trial.h"

namespace hone::space {

class SequentialProblem;
class AssignmentProblem;

// A candidate that a known method constructs, by the name of the method.
struct Seed {
  std::string name;
  Candidate candidate;
};

// A decision to be tuned, independent of its subject: all that optimizers see.
//
// Determinism: methods depend on their arguments only, except for the costs of
// a problem that is_noisy().
// Threads: const methods are thread-safe.
class Problem {
 public:
  virtual ~Problem() = default;

  // Unit of Measurement::cost, e.g. "ops" or "ns".
  virtual absl::string_view unit() const = 0;

  // The compiler's default decision.
  virtual Candidate DefaultCandidate() const = 0;
  // The candidates that every search measures first, so that none ends worse
  // than any of them. Never empty: the first is the default. Constructing them
  // may take long and is not counted in evaluations().
  virtual std::vector<Seed> Seeds() const;

  // Measures candidates, which is the only way to a cost that is not free.
  // Returns one measurement each, in order. A candidate outside the space is
  // kInvalid, one that cannot be applied kCompileError.
  // Errors: only if measuring is impossible now (Unavailable, Cancelled); a bad
  // candidate is an outcome.
  virtual absl::StatusOr<std::vector<Measurement>> MeasureBatch(
      absl::Span<const Candidate> candidates) const = 0;
  // Measures a batch of one.
  absl::StatusOr<Measurement> Measure(const Candidate& candidate) const;
  // The number of candidates that a search measures at a time. More than 1
  // where measuring together is faster.
  virtual int32_t measurement_batch() const { return 1; }

  // A typical cost, positive and finite, which rewards are relative to
  // (reward.h). If costs are not free it is known once the default has been
  // measured.
  virtual double reference_cost() const = 0;

  // The work done so far, in the unit that budgets count for every method:
  // steps computed, assignments evaluated in full or incrementally. 0 if the
  // problem counts nothing but trials.
  virtual int64_t evaluations() const { return 0; }

  // Returns true if costs are times of a real device. Two measurements then
  // differ, a difference of a few percent means nothing until it is confirmed,
  // and each measurement takes long.
  virtual bool is_noisy() const { return false; }

  // Receives the trials of a search that is about to be resumed, in order from
  // the first, so that further costs are relative to the same baseline. Ignored
  // by default.
  virtual void Recall(absl::Span<const Trial> log) { (void)log; }

  // The kind of problem that one trained policy serves ("pass_order"); empty if
  // there is none.
  virtual absl::string_view policy_name() const { return ""; }
  // The sizes and names of the problem's observations.
  virtual ObservationSpec observation_spec() const { return {}; }

  // Returns a model of this problem, which must outlive it; null if there is
  // none. Errors: those of loading the model.
  virtual absl::StatusOr<std::unique_ptr<Surrogate>> MakeSurrogate() const;

  // Limits the estimated bytes of cached steps, now and from now on. Does not
  // change results. By default nothing is cached.
  virtual void LimitMemory(int64_t bytes) { (void)bytes; }

  // Exactly one of these is not null.
  virtual const SequentialProblem* sequential() const { return nullptr; }
  virtual const AssignmentProblem* assignment() const { return nullptr; }
};

}  // namespace hone::space

#endif  // HONE_SPACE_PROBLEM_H_
