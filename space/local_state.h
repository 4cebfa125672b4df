#ifndef HONE_SPACE_LOCAL_STATE_H_
#define HONE_SPACE_LOCAL_STATE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

#include "base/rng.h"
#include "space/measurement.h"

namespace hone::space {

// A new value for a variable.
struct Change {
  int32_t variable = 0;
  int32_t value = 0;
  friend bool operator==(const Change&, const Change&) = default;
};

struct LocalScore {
  Rank rank;
  // What a local search descends among ranks of equal violation: the cost, with
  // differences that the cost does not show yet.
  double energy = 0;
};

// An assignment that is evaluated incrementally: a change costs time by what it
// touches, as far as the constraints can be checked so, not by the size of the
// problem. Costs are those of Problem::Measure, up to rounding.
// Threads: not thread-safe.
class LocalState {
 public:
  virtual ~LocalState() = default;

  // [variables]
  virtual absl::Span<const int32_t> values() const = 0;
  virtual LocalScore score() const = 0;

  // Returns the score after `changes`, of distinct variables, without making
  // them. Counts as an evaluation.
  virtual LocalScore Try(absl::Span<const Change> changes) = 0;
  // Makes the changes of the last Try.
  virtual void Commit() = 0;

  // Replaces `changes` with a random move that is likely to be feasible and of
  // use; empty if a bounded number of draws finds none, which does not mean
  // that there is none.
  virtual void Propose(Rng& rng, std::vector<Change>& changes) = 0;

  // Replaces `features` with what a policy is told of a move, which may be any:
  // [AssignmentProblem::move_feature_names]. Takes no evaluation.
  virtual void DescribeMove(absl::Span<const Change> /*changes*/,
                            std::vector<float>& features) {
    features.clear();
  }
};

}  // namespace hone::space

#endif  // HONE_SPACE_LOCAL_STATE_H_
